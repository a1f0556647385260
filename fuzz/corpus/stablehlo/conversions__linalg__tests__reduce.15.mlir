
// Just check that this lowers successfully.
// CHECK-LABEL: func @reduce_window_unsigned
func.func @reduce_window_unsigned(%arg0: tensor<1x1xui32>) -> tensor<1x1xui32> {
  %0 = stablehlo.constant dense<0> : tensor<ui32>
  %1 = "stablehlo.reduce_window"(%arg0, %0) ({
  ^bb0(%arg1: tensor<ui32>, %arg2: tensor<ui32>):
    stablehlo.return %arg1 : tensor<ui32>
  }) {
    window_dimensions = array<i64: 1, 1>,
    window_strides = array<i64: 1, 1>
  } : (tensor<1x1xui32>, tensor<ui32>) -> tensor<1x1xui32>
  return %1 : tensor<1x1xui32>
}

