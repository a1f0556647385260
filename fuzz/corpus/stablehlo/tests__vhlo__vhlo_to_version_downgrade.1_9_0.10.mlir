
// CHECK-LABEL: vhlo.func_v1 @logistic_op
func.func public @logistic_op(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: vhlo.logistic_v1
  %0 = "stablehlo.logistic"(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

