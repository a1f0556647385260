
// CHECK-LABEL:   func.func @atanh_f32(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK:           %[[ABS_0:.*]] = stablehlo.abs %[[ARG0]] : tensor<f32>
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK:           %[[COMPARE_0:.*]] = stablehlo.compare GT, %[[ABS_0]], %[[CONSTANT_0]] : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK:           %[[CONSTANT_1:.*]] = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CHECK:           %[[LOG_PLUS_ONE_0:.*]] = stablehlo.log_plus_one %[[ARG0]] : tensor<f32>
// CHECK:           %[[NEGATE_0:.*]] = stablehlo.negate %[[ARG0]] : tensor<f32>
// CHECK:           %[[LOG_PLUS_ONE_1:.*]] = stablehlo.log_plus_one %[[NEGATE_0]] : tensor<f32>
// CHECK:           %[[SUBTRACT_0:.*]] = stablehlo.subtract %[[LOG_PLUS_ONE_0]], %[[LOG_PLUS_ONE_1]] : tensor<f32>
// CHECK:           %[[CONSTANT_2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK:           %[[MULTIPLY_0:.*]] = stablehlo.multiply %[[SUBTRACT_0]], %[[CONSTANT_2]] : tensor<f32>
// CHECK:           %[[SELECT_0:.*]] = stablehlo.select %[[COMPARE_0]], %[[CONSTANT_1]], %[[MULTIPLY_0]] : tensor<i1>, tensor<f32>
// CHECK:           return %[[SELECT_0]] : tensor<f32>
// CHECK:         }
func.func @atanh_f32(%arg : tensor<f32>) -> tensor<f32> {
  %result = "chlo.atanh"(%arg) : (tensor<f32>) -> tensor<f32>
  func.return %result : tensor<f32>
}

