
// CHECK-LABEL: vhlo.func_v1 @sqrt_op
func.func public @sqrt_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.sqrt_v1
  %0 = "stablehlo.sqrt"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

