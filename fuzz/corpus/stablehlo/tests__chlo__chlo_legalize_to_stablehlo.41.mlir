
// CHECK-LABEL:   func.func @sinh_complex(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
// CHECK:           %[[CONSTANT_0:.*]] = stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<2xcomplex<f32>>
// CHECK:           %[[LOG_0:.*]] = stablehlo.log %[[CONSTANT_0]] : tensor<2xcomplex<f32>>
// CHECK:           %[[ADD_0:.*]] = stablehlo.add %[[ARG0]], %[[LOG_0]] : tensor<2xcomplex<f32>>
// CHECK:           %[[EXPONENTIAL_0:.*]] = stablehlo.exponential %[[ADD_0]] : tensor<2xcomplex<f32>>
// CHECK:           %[[SUBTRACT_0:.*]] = stablehlo.subtract %[[LOG_0]], %[[ARG0]] : tensor<2xcomplex<f32>>
// CHECK:           %[[EXPONENTIAL_1:.*]] = stablehlo.exponential %[[SUBTRACT_0]] : tensor<2xcomplex<f32>>
// CHECK:           %[[SUBTRACT_1:.*]] = stablehlo.subtract %[[EXPONENTIAL_0]], %[[EXPONENTIAL_1]] : tensor<2xcomplex<f32>>
// CHECK:           return %[[SUBTRACT_1]] : tensor<2xcomplex<f32>>
// CHECK:         }
func.func @sinh_complex(%x : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %1 = chlo.sinh %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  func.return %1 : tensor<2xcomplex<f32>>
}

