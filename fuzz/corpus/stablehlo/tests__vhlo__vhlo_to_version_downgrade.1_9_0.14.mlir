
// CHECK-LABEL: vhlo.func_v1 @sine_op
func.func public @sine_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.sine_v1
  %0 = "stablehlo.sine"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

