func.func @main(%a: tensor<8x0xf32>, %b: tensor<2x2x0xf32>) -> tensor<8x4xf32> {
  %r = stablehlo.reshape %b : (tensor<2x2x0xf32>) -> tensor<0x4xf32>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x4xf32>) -> tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}
