
module @refine_call_main_argument_dynamic_shape {
  // CHECK: func.func public @main(%arg0: tensor<?xi32>) -> tensor<?xi32>
  func.func public @main(%arg0: tensor<?xi32>) -> tensor<?xi32> {
    %2 = call @callee(%arg0) : (tensor<?xi32>) -> tensor<?xi32>
    return %2 : tensor<?xi32>
  }
  func.func private @callee(%arg0: tensor<?xi32>) -> tensor<?xi32> {
    return %arg0 : tensor<?xi32>
  }
}

