func.func @main(%x: tensor<1x512xi32>, %y: tensor<512x512xi32>) -> (tensor<512x512xi32>, tensor<512x512xi32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x512xi32>) -> tensor<512x512xi32>
  %1 = stablehlo.add %0, %y : tensor<512x512xi32>
  %2 = stablehlo.reshape %x : (tensor<1x512xi32>) -> tensor<512x1xi32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<512x1xi32>) -> tensor<512x512xi32>
  return %1, %3 : tensor<512x512xi32>, tensor<512x512xi32>
}
