
func.func @xor_op_test_ui4() {
  %0 = stablehlo.constant dense<[0, 7, 15]> : tensor<3xui4>
  %1 = stablehlo.constant dense<15> : tensor<3xui4>
  %2 = stablehlo.xor %0, %1 : tensor<3xui4>
  "check.expect_eq_const"(%2) {value = dense<[15, 8, 0]> : tensor<3xui4>} : (tensor<3xui4>) -> ()
  func.return
}

