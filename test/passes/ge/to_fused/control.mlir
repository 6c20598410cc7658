// RUN: gecc-opt %s --split-input-file -p ge-to-fused | filecheck %s

// The iterations are counted by the loop itself; that it begins is known.
// CHECK-LABEL: func.func @counted
// CHECK:         %[[ZERO:.*]] = fused.const dense<0> : tensor<i64>
// CHECK:         %[[TRUE:.*]] = fused.const dense<true> : tensor<i1>
// CHECK:         %{{.*}}, %last, %all = fused.while %[[TRUE]] : tensor<i1> init(%[[ZERO]], %x : tensor<i64>, tensor<4xf32>) -> tensor<i64>, tensor<4xf32>, tensor<3x4xf32> {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
// CHECK:           %e = fused.generic "Exp"(%h)
// CHECK:           %[[NEXT:.*]] = fused.generic "Add"(%i
// CHECK:           %[[GO:.*]] = fused.generic "Less"(%[[NEXT]]
// CHECK:           fused.yield %[[GO]], %[[NEXT]], %e, %h : tensor<i1>, tensor<i64>, tensor<4xf32>, tensor<4xf32>
// CHECK:         func.return %last, %all
func.func @counted(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %n = ge.Const dense<3> : tensor<i64>
  %t = ge.Const dense<true> : tensor<i1>
  %last, %all = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %e = ge.Exp(%h) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %t, %e, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %last, %all : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// Whether it begins depends on the count and on a condition, and so does each further iteration.
// CHECK-LABEL: func.func @conditional
// CHECK:         fused.generic "Less"(%n)
// CHECK:         fused.generic "LogicalAnd"
// CHECK:         fused.while
// CHECK:           fused.generic "Less"
// CHECK:           fused.generic "LogicalAnd"
func.func @conditional(%x: tensor<4xf32>, %n: tensor<i64>, %c: tensor<1xi1>) -> tensor<4xf32> {
  %y = ge.While(%n, %c, %x) : (tensor<i64>, tensor<1xi1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %e = ge.Exp(%h) : (tensor<4xf32>) -> tensor<4xf32>
    %s = ge.ReduceSum(%e) axes [0] : (tensor<4xf32>) -> tensor<f32>
    %k = ge.Const dense<9.0> : tensor<f32>
    %d = ge.Less(%s, %k) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    ge.Yield %d, %e : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @branch
// CHECK:         %y = fused.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:      %a = fused.generic "Exp"(%x)
// CHECK:           fused.yield %a : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      fused.yield %x : tensor<4xf32>
func.func @branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> {
    %a = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %a : tensor<4xf32>
  } {
    ge.Yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
