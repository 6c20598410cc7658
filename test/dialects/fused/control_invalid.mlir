// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @condition(%x: tensor<4xf32>, %c: tensor<2xi1>) {
  // CHECK: fused.if: the condition is tensor<2xi1>, expected one element of i1
  %y = fused.if %c : tensor<2xi1> -> tensor<4xf32> {
    fused.yield %x : tensor<4xf32>
  } else {
    fused.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

func.func @types(%x: tensor<4xf32>, %w: tensor<5xf32>, %c: tensor<i1>) {
  // CHECK: fused.if: else yields tensor<5xf32>, expected tensor<4xf32>
  %y = fused.if %c : tensor<i1> -> tensor<4xf32> {
    fused.yield %x : tensor<4xf32>
  } else {
    fused.yield %w : tensor<5xf32>
  }
  func.return
}

// -----

func.func @arguments(%x: tensor<4xf32>, %c: tensor<i1>) {
  // CHECK: fused.while: the body takes tensor<5xf32>, expected the types of the inits, tensor<4xf32>
  %y = fused.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%h: tensor<5xf32>):
    fused.yield %c, %x : tensor<i1>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @number(%x: tensor<4xf32>, %c: tensor<i1>) {
  // CHECK: fused.while: the first carried value is tensor<4xf32>, expected the number of the iteration as tensor<i64>
  %y, %all = fused.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<3x4xf32> {
  ^bb0(%h: tensor<4xf32>):
    fused.yield %c, %h, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @rows(%n: tensor<i64>, %c: tensor<i1>) {
  // CHECK: fused.while: rows of tensor<i64> do not make tensor<3x4xi64>
  %y, %all = fused.while %c : tensor<i1> init(%n : tensor<i64>) -> tensor<i64>, tensor<3x4xi64> {
  ^bb0(%i: tensor<i64>):
    fused.yield %c, %i, %i : tensor<i1>, tensor<i64>, tensor<i64>
  }
  func.return
}
