module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x1x8x8xf32>, %arg1: tensor<3x3x8x8xf32>, %arg2: tensor<1x1x8x8xf32>, %arg3: tensor<2x6x6x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1x1x8x8xf32> {jax.result_info = "result[1][0]"}, tensor<3x3x8x8xf32> {jax.result_info = "result[1][1]"}, tensor<1x1x8x8xf32> {jax.result_info = "result[1][2]"}) {
    %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
    %1 = stablehlo.tanh %0 : tensor<2x6x6x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<2x6x6x8xf32>
    %4 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<3x3x8x8xf32>) -> tensor<2x6x6x8xf32>
    %5 = stablehlo.add %4, %arg3 : tensor<2x6x6x8xf32>
    %6 = stablehlo.convolution(%5, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
    %7 = stablehlo.tanh %6 : tensor<2x6x6x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %9 = stablehlo.subtract %8, %7 : tensor<2x6x6x8xf32>
    %10 = stablehlo.convolution(%7, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<2x6x6x8xf32>
    %13 = stablehlo.add %12, %5 : tensor<2x6x6x8xf32>
    %14 = stablehlo.multiply %13, %13 : tensor<2x6x6x8xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %16 = stablehlo.multiply %15, %13 : tensor<2x6x6x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x6x6x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %19 = stablehlo.multiply %18, %16 : tensor<2x6x6x8xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x6x6x8xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<2x6x6x8xf32>
    %22 = stablehlo.convolution(%7, %21) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<2x6x6x8xf32>) -> tensor<1x1x8x8xf32>
    %23 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<1x1x8x8xf32>
    %24 = stablehlo.convolution(%21, %23) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
    %25 = stablehlo.multiply %24, %9 : tensor<2x6x6x8xf32>
    %26 = stablehlo.multiply %25, %7 : tensor<2x6x6x8xf32>
    %27 = stablehlo.add %25, %26 : tensor<2x6x6x8xf32>
    %28 = stablehlo.convolution(%5, %27) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<2x6x6x8xf32>) -> tensor<1x1x8x8xf32>
    %29 = stablehlo.reverse %arg2, dims = [0, 1] : tensor<1x1x8x8xf32>
    %30 = stablehlo.convolution(%27, %29) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
    %31 = stablehlo.add %19, %30 : tensor<2x6x6x8xf32>
    %32 = stablehlo.convolution(%1, %31) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<2x6x6x8xf32>) -> tensor<3x3x8x8xf32>
    %33 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x8x8xf32>
    %34 = stablehlo.convolution(%31, %33) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<3x3x8x8xf32>) -> tensor<2x6x6x8xf32>
    %35 = stablehlo.multiply %34, %3 : tensor<2x6x6x8xf32>
    %36 = stablehlo.multiply %35, %1 : tensor<2x6x6x8xf32>
    %37 = stablehlo.add %35, %36 : tensor<2x6x6x8xf32>
    %38 = stablehlo.convolution(%arg3, %37) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x8xf32>, tensor<2x6x6x8xf32>) -> tensor<1x1x8x8xf32>
    %39 = stablehlo.add %22, %38 : tensor<1x1x8x8xf32>
    return %17, %39, %32, %28 : tensor<f32>, tensor<1x1x8x8xf32>, tensor<3x3x8x8xf32>, tensor<1x1x8x8xf32>
  }
}

