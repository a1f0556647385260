func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
  %0 = builtin.unrealized_conversion_cast %a : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
