
// expected-error@+1 {{unknown stablehlo type: foobar}}
func.func private @invalid_type() -> !stablehlo.foobar

