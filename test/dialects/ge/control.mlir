// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK-LABEL: func.func @branch
// CHECK:         %y, %z = ge.If(%c) : (tensor<i1>) -> (tensor<4xf32>, tensor<i64>) {
// CHECK-NEXT:      %a = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      ge.Yield %a, %n : tensor<4xf32>, tensor<i64>
// CHECK-NEXT:    } {
// CHECK-NEXT:      ge.Yield %x, %n : tensor<4xf32>, tensor<i64>
// CHECK-NEXT:    }
func.func @branch(%x: tensor<4xf32>, %c: tensor<i1>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
  %y, %z = ge.If(%c) : (tensor<i1>) -> (tensor<4xf32>, tensor<i64>) {
    %a = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ge.Yield %a, %n : tensor<4xf32>, tensor<i64>
  } {
    ge.Yield %x, %n : tensor<4xf32>, tensor<i64>
  }
  func.return %y, %z : tensor<4xf32>, tensor<i64>
}

// A trip count that is constant, and a condition that stays true: the number of rows is known.
// CHECK-LABEL: func.func @counted
// CHECK:         %last, %all = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
// CHECK-NEXT:      %e = ge.Exp(%h) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      ge.Yield %t, %e, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
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

// CHECK-LABEL: func.func @conditional
// CHECK:         ge.While(none, %c, %x) : (tensor<i1>, tensor<?xf32>) -> tensor<?xf32> {
func.func @conditional(%x: tensor<?xf32>, %c: tensor<i1>, %d: tensor<1xi1>) -> tensor<?xf32> {
  %y = ge.While(none, %c, %x) : (tensor<i1>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<?xf32>):
    %e = ge.Exp(%h) : (tensor<?xf32>) -> tensor<?xf32>
    ge.Yield %d, %e : tensor<1xi1>, tensor<?xf32>
  }
  func.return %y : tensor<?xf32>
}
