module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x64x64xf32>, %arg1: tensor<32x64xf32>) -> (tensor<3x2x64x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:10 = stablehlo.while(%iterArg = %arg0, %iterArg_9 = %c, %iterArg_10 = %arg1, %iterArg_11 = %0, %iterArg_12 = %1, %iterArg_13 = %2, %iterArg_14 = %3, %iterArg_15 = %4, %iterArg_16 = %5, %iterArg_17 = %6) : tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>
    cond {
      %c_18 = stablehlo.constant dense<3> : tensor<i32>
      %14 = stablehlo.compare  LT, %iterArg_9, %c_18,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %c_19 = stablehlo.constant dense<0> : tensor<i32>
      %c_20 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.dynamic_slice %iterArg, %iterArg_9, %c_18, %c_19, %c_20, sizes = [1, 2, 64, 64] : (tensor<3x2x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x64x64xf32>
      %15 = stablehlo.reshape %14 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
      %16:8 = func.call @closed_call(%iterArg_10, %15) : (tensor<32x64xf32>, tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      %17 = stablehlo.broadcast_in_dim %16#1, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %c_22 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.dynamic_update_slice %iterArg_11, %17, %iterArg_9, %c_21, %c_22 : (tensor<3x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x64x64xf32>
      %19 = stablehlo.broadcast_in_dim %16#2, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %20 = stablehlo.dynamic_update_slice %iterArg_12, %19, %iterArg_9, %c_23, %c_24 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %21 = stablehlo.broadcast_in_dim %16#3, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_25 = stablehlo.constant dense<0> : tensor<i32>
      %c_26 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.dynamic_update_slice %iterArg_13, %21, %iterArg_9, %c_25, %c_26 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %23 = stablehlo.broadcast_in_dim %16#4, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_27 = stablehlo.constant dense<0> : tensor<i32>
      %c_28 = stablehlo.constant dense<0> : tensor<i32>
      %24 = stablehlo.dynamic_update_slice %iterArg_14, %23, %iterArg_9, %c_27, %c_28 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %25 = stablehlo.broadcast_in_dim %16#5, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %c_29 = stablehlo.constant dense<0> : tensor<i32>
      %c_30 = stablehlo.constant dense<0> : tensor<i32>
      %26 = stablehlo.dynamic_update_slice %iterArg_15, %25, %iterArg_9, %c_29, %c_30 : (tensor<3x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x64x64xf32>
      %27 = stablehlo.broadcast_in_dim %16#6, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_31 = stablehlo.constant dense<0> : tensor<i32>
      %c_32 = stablehlo.constant dense<0> : tensor<i32>
      %28 = stablehlo.dynamic_update_slice %iterArg_16, %27, %iterArg_9, %c_31, %c_32 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %29 = stablehlo.broadcast_in_dim %16#7, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %30 = stablehlo.dynamic_update_slice %iterArg_17, %29, %iterArg_9, %c_33, %c_34 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %c_35 = stablehlo.constant dense<1> : tensor<i32>
      %31 = stablehlo.add %iterArg_9, %c_35 : tensor<i32>
      stablehlo.return %iterArg, %31, %16#0, %18, %20, %22, %24, %26, %28, %30 : tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>
    }
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %9 = stablehlo.multiply %7#2, %8 : tensor<32x64xf32>
    %10 = stablehlo.multiply %8, %7#2 : tensor<32x64xf32>
    %11 = stablehlo.add %9, %10 : tensor<32x64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x2x64x64xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %13:10 = stablehlo.while(%iterArg = %7#3, %iterArg_9 = %7#4, %iterArg_10 = %7#5, %iterArg_11 = %7#6, %iterArg_12 = %7#7, %iterArg_13 = %7#8, %iterArg_14 = %7#9, %iterArg_15 = %c_8, %iterArg_16 = %11, %iterArg_17 = %12) : tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x2x64x64xf32>
    cond {
      %c_18 = stablehlo.constant dense<3> : tensor<i32>
      %14 = stablehlo.compare  LT, %iterArg_15, %c_18,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_18 = stablehlo.constant dense<3> : tensor<i32>
      %14 = stablehlo.subtract %c_18, %iterArg_15 : tensor<i32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.subtract %14, %c_19 : tensor<i32>
      %c_20 = stablehlo.constant dense<0> : tensor<i32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.dynamic_slice %iterArg, %15, %c_20, %c_21, sizes = [1, 64, 64] : (tensor<3x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %c_22 = stablehlo.constant dense<0> : tensor<i32>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.dynamic_slice %iterArg_9, %15, %c_22, %c_23, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %19 = stablehlo.reshape %18 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %c_25 = stablehlo.constant dense<0> : tensor<i32>
      %20 = stablehlo.dynamic_slice %iterArg_10, %15, %c_24, %c_25, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %21 = stablehlo.reshape %20 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %c_26 = stablehlo.constant dense<0> : tensor<i32>
      %c_27 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.dynamic_slice %iterArg_11, %15, %c_26, %c_27, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %23 = stablehlo.reshape %22 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %c_28 = stablehlo.constant dense<0> : tensor<i32>
      %c_29 = stablehlo.constant dense<0> : tensor<i32>
      %24 = stablehlo.dynamic_slice %iterArg_12, %15, %c_28, %c_29, sizes = [1, 64, 64] : (tensor<3x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %25 = stablehlo.reshape %24 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %c_30 = stablehlo.constant dense<0> : tensor<i32>
      %c_31 = stablehlo.constant dense<0> : tensor<i32>
      %26 = stablehlo.dynamic_slice %iterArg_13, %15, %c_30, %c_31, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %27 = stablehlo.reshape %26 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %c_32 = stablehlo.constant dense<0> : tensor<i32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %28 = stablehlo.dynamic_slice %iterArg_14, %15, %c_32, %c_33, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %29 = stablehlo.reshape %28 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %30:2 = func.call @closed_call_14(%iterArg_16, %17, %19, %21, %23, %25, %27, %29) : (tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<2x64x64xf32>)
      %31 = stablehlo.broadcast_in_dim %30#1, dims = [1, 2, 3] : (tensor<2x64x64xf32>) -> tensor<1x2x64x64xf32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %32 = stablehlo.dynamic_update_slice %iterArg_17, %31, %15, %c_34, %c_35, %c_36 : (tensor<3x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x64x64xf32>
      %33 = stablehlo.add %iterArg_15, %c_19 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %33, %30#0, %32 : tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<3x64x64xf32>, tensor<3x32x64xf32>, tensor<3x32x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x2x64x64xf32>
    }
    return %13#9 : tensor<3x2x64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x64xf32>, %arg1: tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
    %0 = stablehlo.slice %arg1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %3 = stablehlo.tanh %2 : tensor<32x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<32x64xf32>
    %6 = stablehlo.slice %arg1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %9 = stablehlo.tanh %8 : tensor<32x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %11 = stablehlo.subtract %10, %9 : tensor<32x64xf32>
    return %9, %1, %arg0, %3, %5, %7, %9, %11 : tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
  }
  func.func private @closed_call_14(%arg0: tensor<32x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<32x64xf32>, %arg3: tensor<32x64xf32>, %arg4: tensor<32x64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<32x64xf32>, %arg7: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<2x64x64xf32>) {
    %0 = stablehlo.multiply %arg0, %arg7 : tensor<32x64xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<32x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x64xf32>
    %3 = stablehlo.dot_general %2, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.dot_general %2, %arg5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %6, %cst, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %8 = stablehlo.multiply %5, %arg4 : tensor<32x64xf32>
    %9 = stablehlo.multiply %8, %arg3 : tensor<32x64xf32>
    %10 = stablehlo.add %8, %9 : tensor<32x64xf32>
    %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %13 = stablehlo.dot_general %10, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %14, %cst_0, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %16 = stablehlo.add %7, %15 : tensor<2x64x64xf32>
    return %13, %16 : tensor<32x64xf32>, tensor<2x64x64xf32>
  }
}
