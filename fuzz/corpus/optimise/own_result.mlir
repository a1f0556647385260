func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %1 = stablehlo.add %1, %a : tensor<4xf32>
  func.return %1: tensor<4xf32>
}
