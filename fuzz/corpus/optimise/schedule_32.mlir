func.func @main(%x: tensor<8x4096xf32>, %big: tensor<1024x512xf32>, %a: tensor<128x512xf32>) -> (tensor<8x512xf32>, tensor<4096x4096xf32>) {
  %0 = "stablehlo.all_gather"(%big) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1024x512xf32>) -> tensor<4096x512xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x4096xf32>, tensor<4096x512xf32>) -> tensor<8x512xf32>
  %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
  %4 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x4096xf32>, tensor<8x4096xf32>) -> tensor<4096x4096xf32>
  return %3, %4 : tensor<8x512xf32>, tensor<4096x4096xf32>
}
