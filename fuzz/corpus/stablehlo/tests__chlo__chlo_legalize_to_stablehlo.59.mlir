
// CHECK-LABEL:   func.func @square_f32(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK:           %[[MULTIPLY_0:.*]] = stablehlo.multiply %[[ARG0]], %[[ARG0]] : tensor<f32>
// CHECK:           return %[[MULTIPLY_0]] : tensor<f32>
// CHECK:         }
func.func @square_f32(%arg : tensor<f32>) -> tensor<f32> {
  %result = "chlo.square"(%arg) : (tensor<f32>) -> tensor<f32>
  func.return %result : tensor<f32>
}

