
// CHECK-LABEL:   func.func @tan_f32(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK:           %[[TAN_0:.*]] = stablehlo.tan %[[ARG0]] : tensor<f32>
// CHECK:           return %[[TAN_0]] : tensor<f32>
// CHECK:         }
func.func @tan_f32(%arg : tensor<f32>) -> tensor<f32> {
  %1 = chlo.tan %arg : tensor<f32> -> tensor<f32>
  func.return %1 : tensor<f32>
}

