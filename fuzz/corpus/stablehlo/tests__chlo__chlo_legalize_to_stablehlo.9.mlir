
// CHECK-LABEL:   func.func @asinh_f64(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<f64>) -> tensor<f64> {
// CHECK:           %[[SIGN_0:.*]] = stablehlo.sign %[[ARG0]] : tensor<f64>
// CHECK:           %[[ABS_0:.*]] = stablehlo.abs %[[ARG0]] : tensor<f64>
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<1.7976931348623157E+308> : tensor<f64>
// CHECK:           %[[SQRT_0:.*]] = stablehlo.sqrt %[[CONSTANT_0]] : tensor<f64>
// CHECK:           %[[COMPARE_0:.*]] = stablehlo.compare GE, %[[ABS_0]], %[[SQRT_0]] : (tensor<f64>, tensor<f64>) -> tensor<i1>
// CHECK:           %[[CONSTANT_1:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<f64>
// CHECK:           %[[LOG_0:.*]] = stablehlo.log %[[CONSTANT_1]] : tensor<f64>
// CHECK:           %[[LOG_1:.*]] = stablehlo.log %[[ABS_0]] : tensor<f64>
// CHECK:           %[[ADD_0:.*]] = stablehlo.add %[[LOG_0]], %[[LOG_1]] : tensor<f64>
// CHECK:           %[[MULTIPLY_0:.*]] = stablehlo.multiply %[[ABS_0]], %[[ABS_0]] : tensor<f64>
// CHECK:           %[[CONSTANT_2:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f64>
// CHECK:           %[[ADD_1:.*]] = stablehlo.add %[[CONSTANT_2]], %[[MULTIPLY_0]] : tensor<f64>
// CHECK:           %[[SQRT_1:.*]] = stablehlo.sqrt %[[ADD_1]] : tensor<f64>
// CHECK:           %[[ADD_2:.*]] = stablehlo.add %[[CONSTANT_2]], %[[SQRT_1]] : tensor<f64>
// CHECK:           %[[DIVIDE_0:.*]] = stablehlo.divide %[[MULTIPLY_0]], %[[ADD_2]] : tensor<f64>
// CHECK:           %[[ADD_3:.*]] = stablehlo.add %[[ABS_0]], %[[DIVIDE_0]] : tensor<f64>
// CHECK:           %[[LOG_PLUS_ONE_0:.*]] = stablehlo.log_plus_one %[[ADD_3]] : tensor<f64>
// CHECK:           %[[SELECT_0:.*]] = stablehlo.select %[[COMPARE_0]], %[[ADD_0]], %[[LOG_PLUS_ONE_0]] : tensor<i1>, tensor<f64>
// CHECK:           %[[MULTIPLY_1:.*]] = stablehlo.multiply %[[SIGN_0]], %[[SELECT_0]] : tensor<f64>
// CHECK:           return %[[MULTIPLY_1]] : tensor<f64>
// CHECK:         }
func.func @asinh_f64(%arg : tensor<f64>) -> tensor<f64> {
  %result = "chlo.asinh"(%arg) : (tensor<f64>) -> tensor<f64>
  func.return %result : tensor<f64>
}

