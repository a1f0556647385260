
// Make sure we do not crash on unregistered dialects.

// CHECK-LABEL: func.func @generic_op
func.func @generic_op(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT:    "test_dialect.op"
  // CHECK-NEXT:    return
  %0 = "test_dialect.op"(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
  return %0 : tensor<2xf32>
}


