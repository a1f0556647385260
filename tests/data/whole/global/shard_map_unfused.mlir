module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<65536x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<65536x4096xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<8192x4096xf32>) {
      %1 = stablehlo.tanh %arg1 : tensor<8192x4096xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8192x4096xf32>
      %3 = stablehlo.multiply %1, %2 : tensor<8192x4096xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8192x4096xf32>
      %5 = stablehlo.add %3, %4 : tensor<8192x4096xf32>
      %6 = stablehlo.exponential %5 : tensor<8192x4096xf32>
      %7 = stablehlo.subtract %6, %arg1 : tensor<8192x4096xf32>
      sdy.return %7 : tensor<8192x4096xf32>
    } : (tensor<65536x4096xf32>) -> tensor<65536x4096xf32>
    return %0 : tensor<65536x4096xf32>
  }
}
