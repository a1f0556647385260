func.func @main(%x: tensor<2x4294967296x4294967296xf32>) -> tensor<2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4294967296x4294967296xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
