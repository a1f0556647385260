
////////
// ErfOp

// CHECK-LABEL: func @fold_erf
func.func @fold_erf() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK-DAG: [[RESULT0:%.*]] = stablehlo.constant dense<-0.52049{{.*}}> : tensor<f32>
  // CHECK-DAG: [[RESULT1:%.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<f32>
  // CHECK-DAG: [[RESULT2:%.*]] = stablehlo.constant dense<0.90000{{.*}}> : tensor<f32>
  // CHECK:     return [[RESULT0]], [[RESULT1]], [[RESULT2]]

  %0 = stablehlo.constant dense<-0.5> : tensor<f32>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.constant dense<1.1631> : tensor<f32>

  %3 = chlo.erf %0 : tensor<f32> -> tensor<f32>
  %4 = chlo.erf %1 : tensor<f32> -> tensor<f32>
  %5 = chlo.erf %2 : tensor<f32> -> tensor<f32>

  func.return %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>
}

