
/////////
// MaxOp

// CHECK-LABEL: @maximum_cst_on_rhs
func.func @maximum_cst_on_rhs(%arg0: tensor<f32>) -> tensor<f32> {
  %cst = stablehlo.constant dense<2.0> : tensor<f32>
  // CHECK: stablehlo.maximum %arg0, %cst : tensor<f32>
  %0 = stablehlo.maximum %cst, %arg0 : tensor<f32>
  return %0 : tensor<f32>
}

