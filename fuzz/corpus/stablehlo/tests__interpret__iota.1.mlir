
func.func @iota_op_test_si4_dim_1() {
  %0 = stablehlo.iota dim = 1 : tensor<3x4xi4>
  "check.expect_eq_const"(%0) {value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi4>} : (tensor<3x4xi4>) -> ()
  func.return
}

