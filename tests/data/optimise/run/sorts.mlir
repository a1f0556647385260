// Ours (MIT): a stable sort of two columns by the first, one down a column, and the two largest of each row.
module @sorts {
  func.func @main(%a: tensor<6x50xf32>, %b: tensor<6x50xi32>) -> (tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x2xf32>, tensor<6x2xi32>) {
    %0:2 = "stablehlo.sort"(%b, %a) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<f32>, %v: tensor<f32>):
      %less = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<6x50xi32>, tensor<6x50xf32>) -> (tensor<6x50xi32>, tensor<6x50xf32>)
    %1 = "stablehlo.sort"(%b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %more = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }) : (tensor<6x50xi32>) -> tensor<6x50xi32>
    %bits = stablehlo.bitcast_convert %0#1 : (tensor<6x50xf32>) -> tensor<6x50xi32>
    %values, %indices = chlo.top_k(%a, k = 2) : tensor<6x50xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
    return %bits, %1, %values, %indices : tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x2xf32>, tensor<6x2xi32>
  }
}
