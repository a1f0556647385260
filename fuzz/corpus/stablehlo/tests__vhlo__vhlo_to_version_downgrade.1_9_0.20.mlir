
// CHECK-LABEL: vhlo.func_v1 @tanh_op
func.func public @tanh_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.tanh_v1
  %0 = "stablehlo.tanh"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

