
// CHECK-LABEL: func @convert
func.func @convert(%arg0: tensor<f64>) -> tensor<bf16> {
  %0 = "stablehlo.convert"(%arg0) : (tensor<f64>) -> tensor<bf16>
  func.return %0 : tensor<bf16>
}

