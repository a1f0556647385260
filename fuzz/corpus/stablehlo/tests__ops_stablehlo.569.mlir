
func.func @dynamic_iota_static() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

