func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %r: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<512x512xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.add %1, %r : tensor<512x512xf32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  return %2, %3 : tensor<512x512xf32>, tensor<512xf32>
}
