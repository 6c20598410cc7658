// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @condition(%x: tensor<4xf32>, %c: tensor<2xi1>) {
  // CHECK: condition has shape [2], expected one element
  %0 = ge.If(%c) : (tensor<2xi1>) -> tensor<4xf32> {
    ge.Yield %x : tensor<4xf32>
  } {
    ge.Yield %x : tensor<4xf32>
  }
  func.return
}

// -----

func.func @branches(%x: tensor<4xf32>, %y: tensor<4xi64>, %c: tensor<i1>) {
  // CHECK: result 0 is tensor<4xf32> in one branch and tensor<4xi64> in the other
  %0 = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> {
    ge.Yield %x : tensor<4xf32>
  } {
    ge.Yield %y : tensor<4xi64>
  }
  func.return
}

// -----

func.func @as_many(%x: tensor<4xf32>, %c: tensor<i1>) {
  // CHECK: the branches yield 1 and 2 values, expected as many
  %0 = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> {
    ge.Yield %x : tensor<4xf32>
  } {
    ge.Yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

// Branches of different extents make an unknown one.
func.func @declared(%x: tensor<4xf32>, %y: tensor<5xf32>, %c: tensor<i1>) {
  // CHECK: result has type tensor<4xi64>, expected tensor<?xf32>: element type i64 is not f32
  %0 = ge.If(%c) : (tensor<i1>) -> tensor<4xi64> {
    ge.Yield %x : tensor<4xf32>
  } {
    ge.Yield %y : tensor<5xf32>
  }
  func.return
}

// -----

func.func @number(%x: tensor<4xf32>, %t: tensor<i1>, %n: tensor<i64>) {
  // CHECK: the body's first argument is tensor<i32>, expected the number as tensor<i64>
  %0 = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %h: tensor<4xf32>):
    ge.Yield %t, %h : tensor<i1>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @arguments(%x: tensor<4xf32>, %t: tensor<i1>, %n: tensor<i64>) {
  // CHECK: the body has 1 arguments for 1 carried values and a number
  %0 = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>):
    ge.Yield %t, %x : tensor<i1>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @carried(%x: tensor<4xf32>, %y: tensor<5xf32>, %t: tensor<i1>, %n: tensor<i64>) {
  // CHECK: carried value 0 is tensor<4xf32> but continues as tensor<5xf32>: dimension 0 is 5, not 4
  %0 = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    ge.Yield %t, %y : tensor<i1>, tensor<5xf32>
  }
  func.return
}

// -----

func.func @goes_on(%x: tensor<4xf32>, %n: tensor<i64>) {
  // CHECK: the body yields tensor<i64> first, expected a condition of one element
  %0 = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    ge.Yield %i, %h : tensor<i64>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @rows(%x: tensor<4xf32>) {
  %n = ge.Const dense<3> : tensor<i64>
  %t = ge.Const dense<true> : tensor<i1>
  // CHECK: result 1 has type tensor<2x4xf32>, expected tensor<3x4xf32>: dimension 0 is 2, not 3
  %0, %1 = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    ge.Yield %t, %h, %h : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return
}
