
// CHECK-LABEL: func @reshape_0D_0D
func.func @reshape_0D_0D(%arg0: tensor<i32>) ->tensor<i32> {
  %0 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}
// CHECK: return %arg0 : tensor<i32>

