
// CHECK-LABEL: vhlo.func_v1 @cosine_op
func.func public @cosine_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.cosine_v1
  %0 = "stablehlo.cosine"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

