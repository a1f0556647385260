
// CHECK-LABEL:   func.func @cosh_f32(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK:           %[[LOG_0:.*]] = stablehlo.log %[[CONSTANT_0]] : tensor<f32>
// CHECK:           %[[ADD_0:.*]] = stablehlo.add %[[ARG0]], %[[LOG_0]] : tensor<f32>
// CHECK:           %[[EXPONENTIAL_0:.*]] = stablehlo.exponential %[[ADD_0]] : tensor<f32>
// CHECK:           %[[SUBTRACT_0:.*]] = stablehlo.subtract %[[LOG_0]], %[[ARG0]] : tensor<f32>
// CHECK:           %[[EXPONENTIAL_1:.*]] = stablehlo.exponential %[[SUBTRACT_0]] : tensor<f32>
// CHECK:           %[[ADD_1:.*]] = stablehlo.add %[[EXPONENTIAL_0]], %[[EXPONENTIAL_1]] : tensor<f32>
// CHECK:           return %[[ADD_1]] : tensor<f32>
// CHECK:         }
func.func @cosh_f32(%x : tensor<f32>) -> tensor<f32> {
  %1 = chlo.cosh %x : tensor<f32> -> tensor<f32>
  func.return %1 : tensor<f32>
}

