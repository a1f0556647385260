
// CHECK-LABEL: func @test_string_type
func.func @test_string_type() -> tensor<!tf_type.string> {
  // CHECK: "tf.Const"
  // CHECK-NOT: interpreter.probe
  // CHECK-NEXT: return
  %0 = "tf.Const"() {value = dense<"hello"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  return %0 : tensor<!tf_type.string>
}
