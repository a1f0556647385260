func.func @main(%a: tensor<4x0xf32>, %b: tensor<0x2x3xf32>, %c: tensor<0x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<4x2x3xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x0xf32>, tensor<0x2x3xf32>) -> tensor<4x2x3xf32>
  %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<4x0xf32>, tensor<0x2x3xf32>) -> tensor<4x2x3xf32>
  return %0, %1 : tensor<4x2x3xf32>, tensor<4x2x3xf32>
}
