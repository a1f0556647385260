// CHECK-LABEL: @constant_ranked
func.func @constant_ranked() -> (tensor<i32>) {
  %0 = "chlo.constant"() { value = dense<1> : tensor<i32> } : () -> tensor<i32>
  // CHECK: types0 = tensor<i32>
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<i32>) -> tensor<i32>
  func.return %1 : tensor<i32>
}

