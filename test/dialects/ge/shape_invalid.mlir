// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: result has type tensor<2xf32>, expected tensor<3xf32>: dimension 0 is 2, not 3
func.func @main(%a0: tensor<f32>) {
  %r = "ge.Const"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<2xf32>
  func.return
}

// -----

// CHECK: result has type tensor<2xi64>, expected tensor<3xi64>
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Shape(%a0) : (tensor<2x3x4xf32>) -> tensor<2xi64>
  func.return
}

// -----

// CHECK: element type i32 is not i64
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Size(%a0) : (tensor<2x3x4xf32>) -> tensor<i32>
  func.return
}

// -----

// CHECK: limit has element type i32, but start has i64
func.func @main(%a0: tensor<i64>, %a1: tensor<i32>, %a2: tensor<i64>) {
  %r = ge.Range(%a0, %a1, %a2) : (tensor<i64>, tensor<i32>, tensor<i64>) -> tensor<?xi64>
  func.return
}

// -----

// CHECK: delta has rank 1 [1], expected rank 0
func.func @main(%a0: tensor<i64>, %a1: tensor<i64>, %a2: tensor<1xi64>) {
  %r = ge.Range(%a0, %a1, %a2) : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<?xi64>
  func.return
}

// -----

// CHECK: value holds 2 elements, expected 1
func.func @main(%a0: tensor<2xi64>) {
  %r = ge.ConstantOfShape(%a0) value dense<[1, 2]> : tensor<2xi64> : (tensor<2xi64>) -> tensor<?x?xi64>
  func.return
}

// -----

// CHECK: shape has element type f32, expected one of i32, i64
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.ConstantOfShape(%a0) : (tensor<2xf32>) -> tensor<?x?xf32>
  func.return
}

// -----

// CHECK: result has type tensor<?x?x?xf32>, expected tensor<?x?xf32>: rank 3 is not 2
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>) {
  %r = ge.DynReshape(%a0, %a1) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?x?xf32>
  func.return
}

// -----

// CHECK: ends has 1 elements, but starts has 2
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>, %a2: tensor<1xi64>) {
  %r = ge.DynSlice(%a0, %a1, %a2) : (tensor<2x3x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: pads has 2 elements, expected 2 for each of 3 dimensions
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>) {
  %r = ge.DynPad(%a0, %a1) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: repeats has 2 elements, expected rank 3
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>) {
  %r = ge.DynTile(%a0, %a1) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: has neither of scales and sizes, expected exactly one
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.DynResize(%a0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: sizes has 2 elements, expected rank 3
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>) {
  %r = ge.DynResize(%a0, none, %a1) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: shape has rank 0 [], expected rank 1
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<i64>) {
  %r = ge.DynExpand(%a0, %a1) : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: shape [-1, -1] may hold one -1 and no other negative value
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<[-1, -1]> : tensor<2xi64>
  %r = ge.DynReshape(%a0, %s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

// CHECK: x [2, 3, 4] with 24 elements does not fit shape [5, -1]
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<[5, -1]> : tensor<2xi64>
  %r = ge.DynReshape(%a0, %s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

// CHECK: shape [1, 1, 1, 0] copies dimension 3, but x [2, 3, 4] has none
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<[1, 1, 1, 0]> : tensor<4xi64>
  %r = ge.DynReshape(%a0, %s) : (tensor<2x3x4xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  func.return
}

// -----

// CHECK: dimension 1 of x [2, 3, 4] is 3, expected 1
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<[1]> : tensor<1xi64>
  %r = ge.DynSqueeze(%a0, %s) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: axes [0, 0] name a dimension twice (rank 5)
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<0> : tensor<2xi64>
  %r = ge.DynUnsqueeze(%a0, %s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<1x1x2x3x4xf32>
  func.return
}

// -----

// CHECK: shape is [-2], expected no negative dimension
func.func @main(%a0: tensor<2x3x4xf32>) {
  %s = ge.Const dense<-2> : tensor<1xi64>
  %r = ge.ConstantOfShape(%s) : (tensor<1xi64>) -> tensor<?xf32>
  func.return
}
