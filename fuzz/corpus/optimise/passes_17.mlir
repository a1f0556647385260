func.func @main(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %r: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = stablehlo.add %0, %r : tensor<64x16xf32>
  return %1 : tensor<64x16xf32>
}
