// RUN: gecc-opt %s -p fused-choose-tilings,fused-pack-weights,fused-hoist-invariants | filecheck %s

// The right side is packed once; the product itself needs the carried value.
// CHECK-LABEL: func.func @packed
// CHECK:         fused.generic "TransData"(%w)
// CHECK:         fused.while
// CHECK-NOT:       fused.generic
// CHECK:           fused.matmul "MatMulV2"(%h,
func.func @packed(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>, %c: tensor<i1>) -> tensor<3x8xf32> {
  %y = fused.while %c : tensor<i1> init(%x : tensor<3x8xf32>) -> tensor<3x8xf32> {
  ^bb0(%h: tensor<3x8xf32>):
    %g = fused.matmul "MatMulV2"(%h, %w) : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32> epilogue(%i: index, %j: index, %acc: f32, %s: tensor<3x8xf32>, %t: tensor<8x8xf32>) {
      fused.yield %acc : f32
    }
    fused.yield %c, %g : tensor<i1>, tensor<3x8xf32>
  }
  func.return %y : tensor<3x8xf32>
}
