
// CHECK-LABEL: func @collective_reduce
func.func @collective_reduce(%operand: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_reduce"(%operand) ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):
    %sum = stablehlo.add %arg0, %arg1 : tensor<f32>
    "stablehlo.return"(%sum) : (tensor<f32>) -> ()
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

