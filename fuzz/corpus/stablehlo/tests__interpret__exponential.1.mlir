
func.func @exponential_op_test_c128() {
  %operand = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f64>>
  %result = stablehlo.exponential %operand : tensor<complex<f64>>
  "check.expect_almost_eq_const"(%result) {value = dense<(-1.1312043837568135, 2.4717266720048188)> : tensor<complex<f64>>} : (tensor<complex<f64>>) -> ()
  func.return
}
