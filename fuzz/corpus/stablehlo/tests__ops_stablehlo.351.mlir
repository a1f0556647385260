
// CHECK-LABEL: func @bitcast_convert
func.func @bitcast_convert(%arg: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.bitcast_convert"(%arg) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

