module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8192x4096xf32>) -> (tensor<8192x4096xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<8192x4096xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8192x4096xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8192x4096xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8192x4096xf32>
    %4 = stablehlo.add %2, %3 : tensor<8192x4096xf32>
    %5 = stablehlo.exponential %4 : tensor<8192x4096xf32>
    %6 = stablehlo.subtract %5, %arg0 : tensor<8192x4096xf32>
    return %6 : tensor<8192x4096xf32>
  }
}
