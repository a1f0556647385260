
func.func @min_op_test_ui4() {
  %0 = stablehlo.constant dense<[0, 2]> : tensor<2xui4>
  %1 = stablehlo.constant dense<[15, 3]> : tensor<2xui4>
  %2 = stablehlo.minimum %0, %1 : tensor<2xui4>
  "check.expect_eq_const"(%2) {value = dense<[0, 2]> : tensor<2xui4>} : (tensor<2xui4>) -> ()
  func.return
}

