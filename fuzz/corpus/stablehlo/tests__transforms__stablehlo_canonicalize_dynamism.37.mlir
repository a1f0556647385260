
// CHECK-LABEL: func @real_dynamic_slice_to_dynamic_slice_inapplicable_unsupported_limit
func.func @real_dynamic_slice_to_dynamic_slice_inapplicable_unsupported_limit(%arg0: tensor<4xf32>, %arg1: tensor<1xi64>, %arg2: tensor<1xi64>, %arg3: tensor<1xi64>) -> tensor<1xf32> {
  // CHECK: stablehlo.real_dynamic_slice
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg2, %arg3 : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

