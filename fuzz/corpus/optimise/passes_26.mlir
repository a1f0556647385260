func.func @main(%x: tensor<512x256xf32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.negate %x : tensor<512x256xf32>
  %1 = stablehlo.exponential %x : tensor<512x256xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x512xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %4 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %3, %4 : tensor<512x512xf32>, tensor<512x512xf32>
}
