
// CHECK-LABEL: vhlo.func_v1 @log_plus_one_op
func.func public @log_plus_one_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.log_plus_one_v1
  %0 = "stablehlo.log_plus_one"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

