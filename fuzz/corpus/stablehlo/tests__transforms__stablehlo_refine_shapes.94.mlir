
// CHECK-LABEL: func @update_function_type
// CHECK-SAME: (%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @update_function_type(%arg0: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NOT: builtin.unrealized_conversion_cast
  %0 = builtin.unrealized_conversion_cast %arg0 : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

