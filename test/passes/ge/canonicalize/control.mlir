// RUN: gecc-opt %s --split-input-file -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @branch
// CHECK:         %z = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      ge.Yield %x : tensor<4xf32>
// CHECK-NEXT:    } {
// CHECK-NEXT:      ge.Yield %w : tensor<4xf32>
// CHECK-NEXT:    }
func.func @branch(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y, %z = ge.If(%c) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %a, %x : tensor<4xf32>, tensor<4xf32>
  } {
    ge.Yield %x, %w : tensor<4xf32>, tensor<4xf32>
  }
  func.return %z : tensor<4xf32>
}

// -----

// %k never changes, %u is read by nothing, and nobody looks at the rows of %e. %g is not returned, but read.
// CHECK-LABEL: func.func @loop
// CHECK:         %{{.*}}, %y, %kept = ge.While(%n, none, %w, %x) : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %g: tensor<4xf32>, %h: tensor<4xf32>):
// CHECK-NEXT:      %s = ge.Add(%g, %x)
// CHECK-NEXT:      %e = ge.Exp(%s)
// CHECK-NEXT:      ge.Yield %t, %h, %e, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK:         func.return %y, %x, %kept
func.func @loop(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) {
  %n = ge.Const dense<3> : tensor<i64>
  %t = ge.Const dense<true> : tensor<i1>
  %o, %k0, %y, %v, %rows, %kept = ge.While(%n, none, %w, %x, %x, %w) : (tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %g: tensor<4xf32>, %k: tensor<4xf32>, %h: tensor<4xf32>, %u: tensor<4xf32>):
    %s = ge.Add(%g, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = ge.Exp(%s) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %t, %h, %k, %e, %s, %e, %k : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %y, %k0, %kept : tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>
}

// -----

// Near miss: everything is used.
// CHECK-LABEL: func.func @all
// CHECK:         %y, %rows = ge.While(%n, none, %x)
func.func @all(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %n = ge.Const dense<3> : tensor<i64>
  %t = ge.Const dense<true> : tensor<i1>
  %y, %rows = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %e = ge.Exp(%h) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %t, %e, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %y, %rows : tensor<4xf32>, tensor<3x4xf32>
}
