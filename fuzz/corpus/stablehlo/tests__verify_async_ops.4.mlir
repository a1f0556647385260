
// Tests that async_start can successfully wrap a collective_broadcast operation.
// CHECK-LABEL: func @async_start_collective_broadcast
func.func @async_start_collective_broadcast(%arg0: tensor<16x8xf32>) -> !stablehlo.future<tensor<16x8xf32>> {
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%barg0: tensor<16x8xf32>):
    %1 = "stablehlo.collective_broadcast"(%barg0) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    "stablehlo.return"(%1) : (tensor<16x8xf32>) -> ()
  }) : (tensor<16x8xf32>) -> !stablehlo.future<tensor<16x8xf32>>
  func.return %0: !stablehlo.future<tensor<16x8xf32>>
}

