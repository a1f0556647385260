func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %8 = stablehlo.constant dense<8.0> : tensor<f32>
  %eight = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<64x1024xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.divide %x, %eight : tensor<64x1024xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<64x1024xf32>
  %4 = stablehlo.exponential %3 : tensor<64x1024xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
  %7 = stablehlo.divide %4, %6 : tensor<64x1024xf32>
  return %7 : tensor<64x1024xf32>
}
