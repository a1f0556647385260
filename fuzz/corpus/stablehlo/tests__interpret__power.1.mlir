
func.func @power_op_test_ui64() {
  %lhs = stablehlo.constant dense<[0, 0, 1, 1, 5]> : tensor<5xui64>
  %rhs = stablehlo.constant dense<[0, 1, 0, 2, 5]> : tensor<5xui64>
  %result = stablehlo.power %lhs, %rhs : tensor<5xui64>
  "check.expect_eq_const"(%result) {value = dense<[1, 0, 1, 1, 3125]> : tensor<5xui64>} : (tensor<5xui64>) -> ()
  func.return
}

