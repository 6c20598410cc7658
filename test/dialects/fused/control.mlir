// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK-LABEL: func.func @branch
// CHECK:         %y = fused.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:      fused.yield %x : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      fused.yield %w : tensor<4xf32>
// CHECK-NEXT:    }
func.func @branch(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = fused.if %c : tensor<i1> -> tensor<4xf32> {
    fused.yield %x : tensor<4xf32>
  } else {
    fused.yield %w : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop
// CHECK:         %n, %last, %all = fused.while %c : tensor<i1> init(%m, %x : tensor<i64>, tensor<4xf32>) -> tensor<i64>, tensor<4xf32>, tensor<9x4xf32> {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
// CHECK-NEXT:      fused.yield %c, %i, %h, %h : tensor<i1>, tensor<i64>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
func.func @loop(%x: tensor<4xf32>, %m: tensor<i64>, %c: tensor<i1>) -> tensor<9x4xf32> {
  %n, %last, %all = fused.while %c : tensor<i1> init(%m, %x : tensor<i64>, tensor<4xf32>) -> tensor<i64>, tensor<4xf32>, tensor<9x4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    fused.yield %c, %i, %h, %h : tensor<i1>, tensor<i64>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %all : tensor<9x4xf32>
}
