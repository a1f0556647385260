module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<65536x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4096x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x4096xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<65536x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<65536x4096xbf16>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg2: tensor<8192x4096xbf16>) {
      %2 = stablehlo.convert %arg2 : (tensor<8192x4096xbf16>) -> tensor<8192x4096xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<4096xf32>
      %4 = stablehlo.convert %3 : (tensor<4096xf32>) -> tensor<4096xbf16>
      %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<4096xbf16>) -> tensor<1x4096xbf16>
      %6 = "stablehlo.all_gather"(%5) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<1x4096xbf16>) -> tensor<8x4096xbf16>
      sdy.return %6 : tensor<8x4096xbf16>
    } : (tensor<65536x4096xbf16>) -> tensor<8x4096xbf16>
    return %1 : tensor<8x4096xbf16>
  }
}
