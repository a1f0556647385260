
func.func @foo() { func.return }
func.func @composite_c1() {
  // valid name
  stablehlo.composite "f00._.$" { decomposition = @foo } : () -> ()
  func.return
}

