
// CHECK-LABEL: module @refine_call_unknown_indirect_callee
module @refine_call_unknown_indirect_callee {
  // CHECK: func.func public @main() -> tensor<4xi32>
  func.func public @main() -> tensor<?xi32> {
    // CHECK-DAG: %[[CALL_RESULT:.*]] = call @callee() : () -> tensor<1xi64>
    // CHECK-DAG: %[[SHAPE:.*]] = stablehlo.constant dense<4> : tensor<1xi64>
    // CHECK: %[[RESULT:.*]] = stablehlo.dynamic_iota %[[SHAPE]], dim = 0
    // CHECK-SAME: -> tensor<4xi32>
    // CHECK: return %[[RESULT]] : tensor<4xi32>
    %0 = call @callee() : () -> tensor<1xi64>
    %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
    return %1 : tensor<?xi32>
  }
  func.func private @callee() -> tensor<1xi64> {
    %0 = func.constant @indirect : () -> ()
    // CHECK: call_indirect
    call_indirect %0() : () -> ()
    %1 = stablehlo.constant dense<[4]> : tensor<1xi64>
    return %1 : tensor<1xi64>
  }
  func.func private @indirect() {
    return
  }
}

