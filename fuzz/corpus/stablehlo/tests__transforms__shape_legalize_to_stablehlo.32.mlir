
func.func @tensor_extract_dynamic(%arg0: tensor<?x3xindex>) -> index {
  %c1 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error@+1 {{failed to legalize operation 'tensor.extract' that was explicitly marked illegal}}
  %0 = tensor.extract %arg0[%c1, %c2] : tensor<?x3xindex>
  return %0 : index
}

