func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %2 = stablehlo.negate %0 : tensor<32x64xf32>
    return %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>
}
