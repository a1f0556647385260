
// CHECK-LABEL: vhlo.func_v1 @rsqrt_op
func.func public @rsqrt_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.rsqrt_v1
  %0 = "stablehlo.rsqrt"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

