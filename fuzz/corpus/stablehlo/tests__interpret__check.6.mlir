
func.func @check_close() {
  %operand = stablehlo.constant dense<5.0000> : tensor<f16>
  %result = stablehlo.constant dense<5.010> : tensor<f16>
  "check.expect_close"(%operand, %result) {max_ulp_difference = 3 : ui64} : (tensor<f16>, tensor<f16>) -> ()
  func.return
}
