func.func @main(%a: tensor<8x25301xi8>, %z: tensor<i32>) -> tensor<8xi32> {
  %r = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8x25301xi8>, tensor<i32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}
