// RUN: gecc-opt %s -p ge-hoist-invariants | filecheck %s

// What does not use the carried value goes before the loop, out of both loops if it can; constants too.
// CHECK-LABEL: func.func @invariant
// CHECK:         %e = ge.Exp(%w)
// CHECK-NEXT:    %k = ge.Const
// CHECK-NEXT:    ge.While(%n, none, %x)
// CHECK:           %s = ge.Sqrt(%h)
// CHECK-NEXT:      ge.While(%n, none, %h)
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        %f = ge.Add(%g, %e)
// CHECK-NEXT:        %p = ge.Mul(%f, %s)
// CHECK-NEXT:        %q = ge.Mul(%p, %k)
func.func @invariant(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i64>, %t: tensor<i1>) -> tensor<4xf32> {
  %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %z = ge.While(%n, none, %h) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%j: tensor<i64>, %g: tensor<4xf32>):
      %e = ge.Exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
      %s = ge.Sqrt(%h) : (tensor<4xf32>) -> tensor<4xf32>
      %k = ge.Const dense<2.0> : tensor<f32>
      %f = ge.Add(%g, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %p = ge.Mul(%f, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %q = ge.Mul(%p, %k) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      ge.Yield %t, %q : tensor<i1>, tensor<4xf32>
    }
    ge.Yield %t, %z : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// Near misses: an index that is checked at run time, in a loop that may run no times; and a branch.
// CHECK-LABEL: func.func @stays
// CHECK:         ge.While
// CHECK:           ge.Gather
// CHECK:           ge.If
// CHECK-NEXT:        ge.Exp
func.func @stays(%x: tensor<4xf32>, %w: tensor<9x4xf32>, %k: tensor<i64>, %n: tensor<i64>, %t: tensor<i1>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %g = ge.Gather(%w, %k) : (tensor<9x4xf32>, tensor<i64>) -> tensor<4xf32>
    %b = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> {
      %e = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      ge.Yield %e : tensor<4xf32>
    } {
      ge.Yield %h : tensor<4xf32>
    }
    %s = ge.Add(%g, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %t, %s : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
