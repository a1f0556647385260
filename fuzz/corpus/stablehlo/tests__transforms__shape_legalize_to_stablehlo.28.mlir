
func.func @muli_i32(%arg0: i32, %arg1: i32) -> i32 {
  // expected-error@+1 {{failed to legalize operation 'arith.muli' that was explicitly marked illegal}}
  %0 = arith.muli %arg0, %arg1 : i32
  return %0 : i32
}

