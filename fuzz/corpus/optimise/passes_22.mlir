func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<4096x1024xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %2 = stablehlo.rsqrt %1 : tensor<4096xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %4 = stablehlo.multiply %x, %3 : tensor<4096x1024xf32>
  return %4 : tensor<4096x1024xf32>
}
