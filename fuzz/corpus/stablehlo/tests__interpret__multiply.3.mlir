
func.func @mul_op_test_ui16() {
  %0 = stablehlo.constant dense<[0, 256]> : tensor<2xui16>
  %1 = stablehlo.constant dense<[65535, 256]> : tensor<2xui16>
  %2 = stablehlo.multiply %0, %1 : tensor<2xui16>
  "check.expect_eq_const"(%2) {value = dense<[0, 0]> : tensor<2xui16>} : (tensor<2xui16>) -> ()
  func.return
}

