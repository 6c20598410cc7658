// RUN: gecc-opt %s --split-input-file -p ge-to-fused,fused-to-tile | filecheck %s

// Both halves along the first dimension are views of the whole; nothing is copied.
// CHECK-LABEL: func.func @halves
// CHECK:         %a = tile.launch @Exp
// CHECK-NEXT:    %[[L:.*]] = tile.view %a offset 0 : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT:    %[[R:.*]] = tile.view %a offset 64 : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT:    tile.launch @{{.*}} "Neg" ins(%[[L]]
// CHECK-NEXT:    tile.launch @{{.*}} "Neg" ins(%[[R]]
func.func @halves(%x: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %a = ge.Exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l, %r = ge.Split(%a) axis 0 sizes [2, 2] : (tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>)
  %m = ge.Neg(%l) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %n = ge.Neg(%r) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %m, %n : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A row of an input is a view however small it is: the input is alive anyway. A row of a tensor in the arena is copied, as
// columns are, and rows taken backwards.
// CHECK-LABEL: func.func @others
// CHECK:         tile.view %x offset 96
// CHECK:         tile.launch @{{.*}} "Slice"
// CHECK:         tile.launch @{{.*}} "Slice"
// CHECK:         tile.launch @{{.*}} "Slice"
func.func @others(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<4x4xf32>, tensor<4x8xf32>) {
  %a = ge.Exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = ge.Slice(%x) starts [3] ends [4] axes [0] steps [1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %c = ge.Slice(%a) starts [3] ends [4] axes [0] steps [1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = ge.Slice(%x) starts [0] ends [4] axes [1] steps [1] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %e = ge.Slice(%x) starts [3] ends [-5] axes [0] steps [-1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %b, %c, %d, %e : tensor<1x8xf32>, tensor<1x8xf32>, tensor<4x4xf32>, tensor<4x8xf32>
}

// -----

// The packed side of a product starts on a cache line, which an input need not: it is copied though no byte moves.
// CHECK-LABEL: func.func @panel
// CHECK:         tile.launch @{{.*}} "Slice"
// CHECK-NEXT:    tile.launch @{{.*}} "MatMulV2"
func.func @panel(%a: tensor<2x4xf32>, %v: tensor<1x4x16xf32>) -> tensor<2x16xf32> {
  %b = fused.generic "Slice"(%v) : (tensor<1x4x16xf32>) -> tensor<1x4x16xf32> body(%p: index, %k: index, %n: index, %t: tensor<1x4x16xf32>) {
    %0 = fused.load %t[%p, %k, %n] : tensor<1x4x16xf32>
    fused.yield %0 : f32
  }
  %y = fused.matmul "MatMulV2"(%a, %b) {packed = 16 : i64, tiling = {columns = 16 : i64, full = 1 : i64, rows = 2 : i64, short = 0 : i64}} : (tensor<2x4xf32>, tensor<1x4x16xf32>) -> tensor<2x16xf32> epilogue(%i: index, %j: index, %acc: f32, %t0: tensor<2x4xf32>, %t1: tensor<1x4x16xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<2x16xf32>
}
