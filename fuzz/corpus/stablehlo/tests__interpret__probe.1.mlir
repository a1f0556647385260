
func.func @probe_i1() {
  %0 = stablehlo.constant dense<[[0], [0], [0]]> : tensor<3x1xi1>
  %1 = stablehlo.constant dense<[[1], [1], [1]]> : tensor<3x1xi1>
  %2 = stablehlo.add %0, %1 : tensor<3x1xi1>
  %3 = "interpreter.probe"(%2) {probe_id = "probe_i1"} : (tensor<3x1xi1>) -> tensor<3x1xi1>
  "check.expect_serialized_eq"(%3) {probe_id = "probe_i1"} : (tensor<3x1xi1>) -> ()
  func.return
}

