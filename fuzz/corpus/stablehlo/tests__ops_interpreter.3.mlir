
module @run_parallel_invalid_function {
  func.func @foo() {
    func.return
  }
  func.func @main() {
    // expected-error@+1 {{Function "bar" not found}}
    "interpreter.run_parallel"() {
      programs=[[@bar], [@bar]]
    } : () -> ()
    func.return
  }
}

