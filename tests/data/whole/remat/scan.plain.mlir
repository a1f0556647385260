module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x64x64xf32>, %arg1: tensor<32x64xf32>) -> (tensor<3x2x64x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c, %iterArg_4 = %arg1, %iterArg_5 = %0) : tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x32x64xf32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %8 = stablehlo.compare  LT, %iterArg_3, %c_6,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.dynamic_slice %iterArg, %iterArg_3, %c_6, %c_7, %c_8, sizes = [1, 2, 64, 64] : (tensor<3x2x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x64x64xf32>
      %9 = stablehlo.reshape %8 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
      %10:2 = func.call @closed_call(%iterArg_4, %9) : (tensor<32x64xf32>, tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
      %11 = stablehlo.broadcast_in_dim %10#1, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.dynamic_update_slice %iterArg_5, %11, %iterArg_3, %c_9, %c_10 : (tensor<3x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x32x64xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %iterArg_3, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %13, %10#0, %12 : tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x32x64xf32>
    }
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %3 = stablehlo.multiply %1#2, %2 : tensor<32x64xf32>
    %4 = stablehlo.multiply %2, %1#2 : tensor<32x64xf32>
    %5 = stablehlo.add %3, %4 : tensor<32x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2x64x64xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7:5 = stablehlo.while(%iterArg = %1#3, %iterArg_3 = %arg0, %iterArg_4 = %c_2, %iterArg_5 = %5, %iterArg_6 = %6) : tensor<3x32x64xf32>, tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x2x64x64xf32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %8 = stablehlo.compare  LT, %iterArg_4, %c_7,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %8 = stablehlo.subtract %c_7, %iterArg_4 : tensor<i32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.subtract %8, %c_8 : tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.dynamic_slice %iterArg, %9, %c_9, %c_10, sizes = [1, 32, 64] : (tensor<3x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %11 = stablehlo.reshape %10 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.dynamic_slice %iterArg_3, %9, %c_11, %c_12, %c_13, sizes = [1, 2, 64, 64] : (tensor<3x2x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x64x64xf32>
      %13 = stablehlo.reshape %12 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
      %14:2 = func.call @closed_call_9(%iterArg_5, %11, %13) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<2x64x64xf32>)
      %15 = stablehlo.broadcast_in_dim %14#1, dims = [1, 2, 3] : (tensor<2x64x64xf32>) -> tensor<1x2x64x64xf32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %c_16 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.dynamic_update_slice %iterArg_6, %15, %9, %c_14, %c_15, %c_16 : (tensor<3x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x64x64xf32>
      %17 = stablehlo.add %iterArg_4, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %17, %14#0, %16 : tensor<3x32x64xf32>, tensor<3x2x64x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<3x2x64x64xf32>
    }
    return %7#4 : tensor<3x2x64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x64xf32>, %arg1: tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %0 = stablehlo.slice %arg1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %3 = stablehlo.tanh %2 : tensor<32x64xf32>
    %4 = stablehlo.slice %arg1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %6 = stablehlo.dot_general %3, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %7 = stablehlo.tanh %6 : tensor<32x64xf32>
    return %7, %arg0 : tensor<32x64xf32>, tensor<32x64xf32>
  }
  func.func private @closed_call_9(%arg0: tensor<32x64xf32>, %arg1: tensor<32x64xf32>, %arg2: tensor<2x64x64xf32>) -> (tensor<32x64xf32>, tensor<2x64x64xf32>) {
    %0 = stablehlo.slice %arg2 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %3 = stablehlo.tanh %2 : tensor<32x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<32x64xf32>
    %6 = stablehlo.slice %arg2 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %9 = stablehlo.tanh %8 : tensor<32x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %11 = stablehlo.subtract %10, %9 : tensor<32x64xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<32x64xf32>
    %13 = stablehlo.multiply %12, %9 : tensor<32x64xf32>
    %14 = stablehlo.add %12, %13 : tensor<32x64xf32>
    %15 = stablehlo.dot_general %14, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %17 = stablehlo.dot_general %14, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %18, %cst_1, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %20 = stablehlo.multiply %17, %5 : tensor<32x64xf32>
    %21 = stablehlo.multiply %20, %3 : tensor<32x64xf32>
    %22 = stablehlo.add %20, %21 : tensor<32x64xf32>
    %23 = stablehlo.dot_general %22, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %25 = stablehlo.dot_general %22, %1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.pad %26, %cst_2, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %28 = stablehlo.add %19, %27 : tensor<2x64x64xf32>
    return %25, %28 : tensor<32x64xf32>, tensor<2x64x64xf32>
  }
}
