
////////
// SetDimensionSizeOp

// CHECK-LABEL: func.func @fold_set_dimension_size
// CHECK-SAME:   ([[ARG0:%.+]]: tensor<10xf32>)
func.func @fold_set_dimension_size(%arg0: tensor<10xf32>) -> tensor<10xf32> {
  // CHECK-NOT: stablehlo.set_dimension_size
  // CHECK: return [[ARG0]]
  %c = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.set_dimension_size %arg0, %c, dim = 0 : (tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

