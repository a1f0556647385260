
// CHECK-LABEL:   func.func @acosh(
// CHECK-SAME:                     %[[ARG0:.*]]: tensor<f16>) -> tensor<f16> {
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<6.550400e+04> : tensor<f16>
// CHECK:           %[[CONSTANT_1:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<f16>
// CHECK:           %[[DIVIDE_0:.*]] = stablehlo.divide %[[CONSTANT_0]], %[[CONSTANT_1]] : tensor<f16>
// CHECK:           %[[COMPARE_0:.*]] = stablehlo.compare GE, %[[ARG0]], %[[DIVIDE_0]] : (tensor<f16>, tensor<f16>) -> tensor<i1>
// CHECK:           %[[LOG_0:.*]] = stablehlo.log %[[CONSTANT_1]] : tensor<f16>
// CHECK:           %[[LOG_1:.*]] = stablehlo.log %[[ARG0]] : tensor<f16>
// CHECK:           %[[ADD_0:.*]] = stablehlo.add %[[LOG_0]], %[[LOG_1]] : tensor<f16>
// CHECK:           %[[CONSTANT_2:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f16>
// CHECK:           %[[SUBTRACT_0:.*]] = stablehlo.subtract %[[ARG0]], %[[CONSTANT_2]] : tensor<f16>
// CHECK:           %[[SQRT_0:.*]] = stablehlo.sqrt %[[SUBTRACT_0]] : tensor<f16>
// CHECK:           %[[ADD_1:.*]] = stablehlo.add %[[ARG0]], %[[CONSTANT_2]] : tensor<f16>
// CHECK:           %[[SQRT_1:.*]] = stablehlo.sqrt %[[ADD_1]] : tensor<f16>
// CHECK:           %[[ADD_2:.*]] = stablehlo.add %[[SQRT_1]], %[[SQRT_0]] : tensor<f16>
// CHECK:           %[[MULTIPLY_0:.*]] = stablehlo.multiply %[[SQRT_0]], %[[ADD_2]] : tensor<f16>
// CHECK:           %[[LOG_PLUS_ONE_0:.*]] = stablehlo.log_plus_one %[[MULTIPLY_0]] : tensor<f16>
// CHECK:           %[[SELECT_0:.*]] = stablehlo.select %[[COMPARE_0]], %[[ADD_0]], %[[LOG_PLUS_ONE_0]] : tensor<i1>, tensor<f16>
// CHECK:           return %[[SELECT_0]] : tensor<f16>
// CHECK:         }
func.func @acosh(%arg: tensor<f16>) -> tensor<f16> {
  %1 = "chlo.acosh"(%arg) : (tensor<f16>) -> tensor<f16>
  func.return %1 : tensor<f16>
}

