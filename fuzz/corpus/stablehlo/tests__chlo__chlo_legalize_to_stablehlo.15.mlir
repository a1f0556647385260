
// CHECK-LABEL:   func.func @conj_real(
// CHECK-SAME:      %[[ARG0:.*]]: tensor<3xf32>) -> tensor<3xf32> {
// CHECK:           return %[[ARG0]] : tensor<3xf32>
// CHECK:         }
func.func @conj_real(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %1 = "chlo.conj"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

