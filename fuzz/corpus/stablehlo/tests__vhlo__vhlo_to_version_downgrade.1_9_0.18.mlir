
// CHECK-LABEL: vhlo.func_v1 @tan_op
func.func public @tan_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.tan_v1
  %0 = "stablehlo.tan"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

