
// CHECK-LABEL: @broadcast_select_types_bounded
!bounded_type = tensor<?xf64, #stablehlo.bounds<10>>
func.func @broadcast_select_types_bounded(%arg0: tensor<i1>, %arg1: !bounded_type, %arg2: !bounded_type) -> !bounded_type {
  %0 = "chlo.broadcast_select"(%arg0, %arg1, %arg2) : (tensor<i1>, !bounded_type, !bounded_type) -> !bounded_type
  // CHECK: types0 = tensor<?xf64, #stablehlo.bounds<10>>
  %1 = "hlo_test_infer.get_return_types"(%0) : (!bounded_type) -> !bounded_type
  return %1: !bounded_type
}
