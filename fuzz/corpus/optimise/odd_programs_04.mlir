func.func @main(%n: tensor<i32>) -> tensor<64x512xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<64x512xi32>
  %1 = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<64x512xi32>
  %2 = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<64x512xi32>, tensor<64x512xi32>) -> tensor<64x512xi32>
  return %2 : tensor<64x512xi32>
}
