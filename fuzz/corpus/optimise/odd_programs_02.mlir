func.func @main(%a: tensor<8x0xf32>, %w: tensor<8x4xf32>) -> tensor<0x4xf32> {
  %r = stablehlo.reshape %a : (tensor<8x0xf32>) -> tensor<0x8xf32>
  %d = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<0x8xf32>, tensor<8x4xf32>) -> tensor<0x4xf32>
  return %d : tensor<0x4xf32>
}
