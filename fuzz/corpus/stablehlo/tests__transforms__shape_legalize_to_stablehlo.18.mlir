
// CHECK-LABEL: func @const_shape
func.func @const_shape() -> tensor<2xindex> {
  %0 = shape.const_shape [6, 4] : tensor<2xindex>
  return %0 : tensor<2xindex>
  //      CHECK: %[[CST:.*]] = stablehlo.constant dense<[6, 4]> : tensor<2xi32>
  // CHECK-NEXT: %[[CST_INDEX:.*]] = builtin.unrealized_conversion_cast %[[CST]] : tensor<2xi32> to tensor<2xindex>
  // CHECK-NEXT: return %[[CST_INDEX]] : tensor<2xindex>
}

