
// CHECK-LABEL:   func.func @asin_f16(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f16>) -> tensor<f16> {
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f16>
// CHECK:           %[[SUBTRACT_0:.*]] = stablehlo.subtract %[[CONSTANT_0]], %[[ARG0]] : tensor<f16>
// CHECK:           %[[ADD_0:.*]] = stablehlo.add %[[CONSTANT_0]], %[[ARG0]] : tensor<f16>
// CHECK:           %[[MULTIPLY_0:.*]] = stablehlo.multiply %[[SUBTRACT_0]], %[[ADD_0]] : tensor<f16>
// CHECK:           %[[SQRT_0:.*]] = stablehlo.sqrt %[[MULTIPLY_0]] : tensor<f16>
// CHECK:           %[[ADD_1:.*]] = stablehlo.add %[[CONSTANT_0]], %[[SQRT_0]] : tensor<f16>
// CHECK:           %[[VAL_0:.*]] = stablehlo.atan2 %[[ARG0]], %[[ADD_1]] : tensor<f16>
// CHECK:           %[[ADD_2:.*]] = stablehlo.add %[[VAL_0]], %[[VAL_0]] : tensor<f16>
// CHECK:           return %[[ADD_2]] : tensor<f16>
// CHECK:         }
func.func @asin_f16(%arg : tensor<f16>) -> tensor<f16> {
  %result = "chlo.asin"(%arg) : (tensor<f16>) -> tensor<f16>
  func.return %result : tensor<f16>
}

