
// CHECK-LABEL: func @dynamic_conv_inapplicable_dynamic_padding
func.func @dynamic_conv_inapplicable_dynamic_padding(%arg0: tensor<100x26x26x32xf32>, %arg1: tensor<3x3x1x32xf32>, %arg2: tensor<2x2xi32>) -> tensor<100x28x28x1xf32> {
  // CHECK: stablehlo.dynamic_conv
  %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) {
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>,
    window_strides = array<i64: 1, 1>,
    lhs_dilation = array<i64: 1, 1>,
    rhs_dilation = array<i64: 1, 1>,
    feature_group_count = 1 : i64,
    batch_group_count = 1 : i64
  } : (tensor<100x26x26x32xf32>, tensor<3x3x1x32xf32>, tensor<2x2xi32>) -> tensor<100x28x28x1xf32>
  return %0 : tensor<100x28x28x1xf32>
}

