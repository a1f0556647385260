
func.func @index_cast_index_to_i8(%arg0: tensor<2xindex>) -> tensor<2xi8> {
  // expected-error@+1 {{failed to legalize operation 'arith.index_cast' that was explicitly marked illegal}}
  %0 = arith.index_cast %arg0 : tensor<2xindex> to tensor<2xi8>
  return %0 : tensor<2xi8>
}

