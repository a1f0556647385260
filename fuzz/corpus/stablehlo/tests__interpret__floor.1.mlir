
func.func @floor_op_test_f16() {
  %0 = stablehlo.constant dense<[0xFC00, -2.5, 0x8001, -0.0, 0.0, 0x0001, 2.5, 0x7C00, 0x7E00]>  : tensor<9xf16>
  %1 = stablehlo.floor %0 : tensor<9xf16>
  "check.expect_almost_eq_const"(%1) {value = dense<[0xFC00, -3.000000e+00, -1.000000e+00, -0.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e+00, 0x7C00, 0x7E00]> : tensor<9xf16>} : (tensor<9xf16>) -> ()
  func.return
}

