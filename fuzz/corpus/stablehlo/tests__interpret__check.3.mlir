
func.func @check_almost_eq_const() {
  %operand = stablehlo.constant dense<5.0000> : tensor<f64>
  "check.expect_almost_eq_const"(%operand) {value = dense<5.0001> : tensor<f64>} : (tensor<f64>) -> ()
  func.return
}

