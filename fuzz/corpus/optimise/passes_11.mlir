func.func @main(%x: tensor<8x16x64x32xf32>, %k: tensor<4x16x3x3xf32>) -> tensor<8x4x64x32xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x64x32xf32>, tensor<4x16x3x3xf32>) -> tensor<8x4x64x32xf32>
  return %0 : tensor<8x4x64x32xf32>
}
