// RUN: gecc-opt %s -p 'fused-to-tile{target="x86-64-v4"}' | filecheck %s

// The epilogue of a reduction reads tensors at the result's index, whatever loops the reduction adds.
// CHECK-LABEL: tile.kernel @ReduceSumMul
// CHECK:         scf.for [[ROW:%[0-9]+]] =
// CHECK:           [[SUM:%[0-9]+]] = tile.lanes {{.*}} reduce("add"
// CHECK:           [[SCALE:%[0-9]+]] = tile.load %1{{\[}}[[ROW]]{{\]}}
// CHECK-NEXT:      [[R:%.*]] = arith.mulf [[SUM]], [[SCALE]] : f32
// CHECK-NEXT:      tile.store [[R]], %2{{\[}}[[ROW]]{{\]}}
// CHECK:         tile.launch @ReduceSumMul "ReduceSumMul" ins(%x, %s : tensor<5x7xf32>, tensor<5xf32>) params [5, 7, 7,
func.func @main(%x: tensor<5x7xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %y = fused.generic "ReduceSumMul"(%x, %s) {combiner = "add", reduction = array<i64: 7>} : (tensor<5x7xf32>, tensor<5xf32>) -> tensor<5xf32>
  body(%i: index, %k: index, %t: tensor<5x7xf32>, %u: tensor<5xf32>) {
    %v = fused.load %t[%i, %k] : tensor<5x7xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %a: f32, %t: tensor<5x7xf32>, %u: tensor<5xf32>) {
    %v = fused.load %u[%i] : tensor<5xf32>
    %r = arith.mulf %a, %v : f32
    fused.yield %r : f32
  }
  func.return %y : tensor<5xf32>
}
