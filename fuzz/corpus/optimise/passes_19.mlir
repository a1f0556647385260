func.func @main(%x: tensor<64x32xf32>, %a: tensor<32x16xf32>, %b: tensor<32x8xf32>) -> (tensor<64x16xf32>, tensor<64x8xf32>) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
  return %0, %1 : tensor<64x16xf32>, tensor<64x8xf32>
}
