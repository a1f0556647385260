func.func @main(%x: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %table = stablehlo.constant dense<[OFFSETS]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %id = stablehlo.partition_id : tensor<ui32>
  %at = stablehlo.dynamic_slice %table, %id, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
  %start = stablehlo.reshape %at : (tensor<1xi32>) -> tensor<i32>
  %1 = stablehlo.dynamic_slice %0, %start, %zero, sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
