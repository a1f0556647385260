// CHECK-LABEL: @constant_like_unranked
func.func @constant_like_unranked(%arg0: tensor<*xi64>) -> (tensor<*xf32>) {
  %0 = "chlo.constant_like"(%arg0) { value = 3.2 : f32 } : (tensor<*xi64>) -> tensor<*xf32>
  // CHECK: types0 = tensor<*xf32>
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  func.return %1 : tensor<*xf32>
}

