
module @run_parallel_invalid_infeed_return_type {
  func.func @infeed(%token : !stablehlo.token) -> (tensor<i64>, !stablehlo.token) {
    %results0:2 = "stablehlo.infeed"(%token) :
        (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    func.return %results0#0, %results0#1 : tensor<i64>, !stablehlo.token
  }
  func.func @infeed_queue() -> !stablehlo.token {
    %token = stablehlo.after_all : !stablehlo.token
    func.return %token : !stablehlo.token
  }
  func.func @main() {
    %token = stablehlo.after_all : !stablehlo.token
    // expected-error@+1 {{Function "infeed_queue" should return a tensor type, but instead returns '!stablehlo.token'}}
    "interpreter.run_parallel"(%token) {
      infeed=[@infeed_queue],
      programs=[[@infeed]]
    } : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    func.return
  }
}
