module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x64x64xf32>, %arg1: tensor<32x64xf32>) -> (tensor<3x2x64x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:2, 0:64, 0:64] : (tensor<3x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
    %2 = stablehlo.slice %1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %4 = stablehlo.dot_general %arg1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %5 = stablehlo.tanh %4 : tensor<32x64xf32>
    %6 = stablehlo.slice %1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.dot_general %5, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %9 = stablehlo.tanh %8 : tensor<32x64xf32>
    %10 = stablehlo.slice %arg0 [1:2, 0:2, 0:64, 0:64] : (tensor<3x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
    %12 = stablehlo.slice %11 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %13 = stablehlo.reshape %12 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %14 = stablehlo.dot_general %9, %13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %15 = stablehlo.tanh %14 : tensor<32x64xf32>
    %16 = stablehlo.slice %11 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %17 = stablehlo.reshape %16 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %18 = stablehlo.dot_general %15, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %19 = stablehlo.tanh %18 : tensor<32x64xf32>
    %20 = stablehlo.slice %arg0 [2:3, 0:2, 0:64, 0:64] : (tensor<3x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %21 = stablehlo.reshape %20 : (tensor<1x2x64x64xf32>) -> tensor<2x64x64xf32>
    %22 = stablehlo.slice %21 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %24 = stablehlo.dot_general %19, %23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %25 = stablehlo.tanh %24 : tensor<32x64xf32>
    %26 = stablehlo.slice %21 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %28 = stablehlo.dot_general %25, %27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %29 = stablehlo.tanh %28 : tensor<32x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<32x64xf32>
    %32 = stablehlo.multiply %30, %29 : tensor<32x64xf32>
    %33 = stablehlo.add %31, %32 : tensor<32x64xf32>
    %34:3 = stablehlo.optimization_barrier %19, %21, %33 : tensor<32x64xf32>, tensor<2x64x64xf32>, tensor<32x64xf32>
    %35 = stablehlo.slice %34#1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %36 = stablehlo.reshape %35 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %37 = stablehlo.dot_general %34#0, %36, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %38 = stablehlo.tanh %37 : tensor<32x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<32x64xf32>
    %41 = stablehlo.slice %34#1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %43 = stablehlo.dot_general %38, %42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %44 = stablehlo.tanh %43 : tensor<32x64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %46 = stablehlo.subtract %45, %44 : tensor<32x64xf32>
    %47 = stablehlo.multiply %34#2, %46 : tensor<32x64xf32>
    %48 = stablehlo.multiply %47, %44 : tensor<32x64xf32>
    %49 = stablehlo.add %47, %48 : tensor<32x64xf32>
    %50 = stablehlo.dot_general %49, %38, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %51 = stablehlo.transpose %50, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %52 = stablehlo.dot_general %49, %42, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %53 = stablehlo.broadcast_in_dim %51, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.pad %53, %cst_2, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %55 = stablehlo.multiply %52, %40 : tensor<32x64xf32>
    %56 = stablehlo.multiply %55, %38 : tensor<32x64xf32>
    %57 = stablehlo.add %55, %56 : tensor<32x64xf32>
    %58 = stablehlo.dot_general %57, %34#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %59 = stablehlo.transpose %58, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %60 = stablehlo.dot_general %57, %36, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %61 = stablehlo.broadcast_in_dim %59, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.pad %61, %cst_3, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %63 = stablehlo.add %54, %62 : tensor<2x64x64xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [1, 2, 3] : (tensor<2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.pad %64, %cst_4, low = [2, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<3x2x64x64xf32>
    %66:3 = stablehlo.optimization_barrier %9, %11, %60 : tensor<32x64xf32>, tensor<2x64x64xf32>, tensor<32x64xf32>
    %67 = stablehlo.slice %66#1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %68 = stablehlo.reshape %67 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %69 = stablehlo.dot_general %66#0, %68, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %70 = stablehlo.tanh %69 : tensor<32x64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %72 = stablehlo.subtract %71, %70 : tensor<32x64xf32>
    %73 = stablehlo.slice %66#1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %74 = stablehlo.reshape %73 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %75 = stablehlo.dot_general %70, %74, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %76 = stablehlo.tanh %75 : tensor<32x64xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %78 = stablehlo.subtract %77, %76 : tensor<32x64xf32>
    %79 = stablehlo.multiply %66#2, %78 : tensor<32x64xf32>
    %80 = stablehlo.multiply %79, %76 : tensor<32x64xf32>
    %81 = stablehlo.add %79, %80 : tensor<32x64xf32>
    %82 = stablehlo.dot_general %81, %70, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %83 = stablehlo.transpose %82, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %84 = stablehlo.dot_general %81, %74, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %85 = stablehlo.broadcast_in_dim %83, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.pad %85, %cst_7, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %87 = stablehlo.multiply %84, %72 : tensor<32x64xf32>
    %88 = stablehlo.multiply %87, %70 : tensor<32x64xf32>
    %89 = stablehlo.add %87, %88 : tensor<32x64xf32>
    %90 = stablehlo.dot_general %89, %66#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %91 = stablehlo.transpose %90, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %92 = stablehlo.dot_general %89, %68, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %93 = stablehlo.broadcast_in_dim %91, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %94 = stablehlo.pad %93, %cst_8, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %95 = stablehlo.add %86, %94 : tensor<2x64x64xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [1, 2, 3] : (tensor<2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.pad %96, %cst_9, low = [1, 0, 0, 0], high = [1, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<3x2x64x64xf32>
    %98 = stablehlo.add %65, %97 : tensor<3x2x64x64xf32>
    %99:3 = stablehlo.optimization_barrier %arg1, %1, %92 : tensor<32x64xf32>, tensor<2x64x64xf32>, tensor<32x64xf32>
    %100 = stablehlo.slice %99#1 [0:1, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %101 = stablehlo.reshape %100 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %102 = stablehlo.dot_general %99#0, %101, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %103 = stablehlo.tanh %102 : tensor<32x64xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %105 = stablehlo.subtract %104, %103 : tensor<32x64xf32>
    %106 = stablehlo.slice %99#1 [1:2, 0:64, 0:64] : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %108 = stablehlo.dot_general %103, %107, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %109 = stablehlo.tanh %108 : tensor<32x64xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %111 = stablehlo.subtract %110, %109 : tensor<32x64xf32>
    %112 = stablehlo.multiply %99#2, %111 : tensor<32x64xf32>
    %113 = stablehlo.multiply %112, %109 : tensor<32x64xf32>
    %114 = stablehlo.add %112, %113 : tensor<32x64xf32>
    %115 = stablehlo.dot_general %114, %103, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %116 = stablehlo.transpose %115, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %117 = stablehlo.dot_general %114, %107, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %118 = stablehlo.broadcast_in_dim %116, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.pad %118, %cst_12, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %120 = stablehlo.multiply %117, %105 : tensor<32x64xf32>
    %121 = stablehlo.multiply %120, %103 : tensor<32x64xf32>
    %122 = stablehlo.add %120, %121 : tensor<32x64xf32>
    %123 = stablehlo.dot_general %122, %99#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %124 = stablehlo.transpose %123, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %125 = stablehlo.broadcast_in_dim %124, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.pad %125, %cst_13, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x64x64xf32>, tensor<f32>) -> tensor<2x64x64xf32>
    %127 = stablehlo.add %119, %126 : tensor<2x64x64xf32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [1, 2, 3] : (tensor<2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.pad %128, %cst_14, low = [0, 0, 0, 0], high = [2, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<3x2x64x64xf32>
    %130 = stablehlo.add %98, %129 : tensor<3x2x64x64xf32>
    return %130 : tensor<3x2x64x64xf32>
  }
}
