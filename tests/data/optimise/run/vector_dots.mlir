// Ours (MIT): dots with vectors. Batches and contracted dimensions stand in other places on each side.
module @vector_dots {
  func.func @main(%m: tensor<4x5x3x7xf32>, %v: tensor<3x4x7xf32>, %x: tensor<4x6xbf16>, %y: tensor<4x6xbf16>, %z: tensor<6x1xf32>, %s: tensor<5x5xf32>)
      -> (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<4x6x6xf32>, tensor<4xbf16>, tensor<4x1xf32>, tensor<5xf32>) {
    %0 = stablehlo.dot_general %m, %v, batching_dims = [0, 2] x [1, 0], contracting_dims = [3] x [2]
        : (tensor<4x5x3x7xf32>, tensor<3x4x7xf32>) -> tensor<4x3x5xf32>
    %1 = stablehlo.dot_general %v, %m, batching_dims = [1, 0] x [0, 2], contracting_dims = [2] x [3]
        : (tensor<3x4x7xf32>, tensor<4x5x3x7xf32>) -> tensor<4x3x5xf32>
    %2 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x []
        : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<4x6x6xf32>
    %3 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1]
        : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<4xbf16>
    %4 = stablehlo.convert %x : (tensor<4x6xbf16>) -> tensor<4x6xf32>
    %5 = stablehlo.dot_general %4, %z, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x1xf32>) -> tensor<4x1xf32>
    %6 = stablehlo.add %s, %s : tensor<5x5xf32>
    %7 = stablehlo.dot_general %s, %6, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5xf32>
    return %0, %1, %2, %3, %5, %7 : tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<4x6x6xf32>, tensor<4xbf16>, tensor<4x1xf32>, tensor<5xf32>
  }
}
