
// CHECK-LABEL: vhlo.func_v1 @log_op
func.func public @log_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.log_v1
  %0 = "stablehlo.log"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

