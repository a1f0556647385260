func.func @main(%a: tensor<128x512xf32>, %b: tensor<*xf32>, %c: tensor<512x64xf32>) -> tensor<128x128xf32> {
  %r = "stablehlo.concatenate"(%b, %c) <{dimension = 1 : i64}> : (tensor<*xf32>, tensor<512x64xf32>) -> tensor<512x128xf32>
  %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<128x512xf32>, tensor<512x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
