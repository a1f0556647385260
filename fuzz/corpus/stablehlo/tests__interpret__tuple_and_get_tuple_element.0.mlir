// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @tuple() {
  %val0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %tmp = stablehlo.constant dense<3> : tensor<i64>
  %val1 = stablehlo.tuple %tmp : tuple<tensor<i64>>
  %operand = stablehlo.tuple %val0, %val1 : tuple<tensor<2xf64>, tuple<tensor<i64>>>
  func.return
}

