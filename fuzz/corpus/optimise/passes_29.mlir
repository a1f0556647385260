func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {{
  %0 = stablehlo.reduce_precision %x, format = e8m{} : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}}
