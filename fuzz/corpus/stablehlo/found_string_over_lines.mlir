
func.func @test_tan_highest_error(%arg0: tensor<f32>)
func.func @infeed_c1(%token: !stablehlo.token) {
  // expected-error@+1 {{result is expected to be at least of size 1, but got 0}}
 -> tensor<f32> {
  // expected-error@+1 {{Invalid tolerances for ResultAccuracyAttr with mode HIGHEST, mus.count_leading_z
  %tan = "stablehlo.tan"(%arg0) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 4, mode  "stablehlo.infe = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tenseor<f32>) -> tensor<f32>
  func.return %tan: tensor<f32>
}
nd = stablehlo.constant dense<[[0, 1], [128, -1]]> : tensor<2x2xi64>
  %rde"