func.func @main(%first: tensor<i32>, %x: tensor<64x512xi32>) -> tensor<64x512xi1> {
  %0 = stablehlo.iota dim = 1 : tensor<64x512xi32>
  %1 = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<64x512xi32>
  %2 = stablehlo.add %0, %1 : tensor<64x512xi32>
  %3 = stablehlo.compare EQ, %x, %2 : (tensor<64x512xi32>, tensor<64x512xi32>) -> tensor<64x512xi1>
  return %3 : tensor<64x512xi1>
}
