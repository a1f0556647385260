
func.func @not_op_test_i1_splat_true() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.not %0 : tensor<i1>
  "check.expect_eq_const"(%1) {value = dense<false> : tensor<i1>} : (tensor<i1>) -> ()
  func.return
}
