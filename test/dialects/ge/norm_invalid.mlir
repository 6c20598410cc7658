// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: scale has 3 elements, but x has 4 channels
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<3xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  %r = ge.BatchNorm(%a0, %a1, %a2, %a3, %a4) : (tensor<1x4x6x6xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: x has rank 1, expected rank 2 or more
func.func @main(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  %r = ge.BatchNorm(%a0, %a1, %a2, %a3, %a4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: shapes [4] and [3] do not broadcast: 4 and 3 in dimension 0
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3xf32>) {
  %r = ge.LayerNorm(%a0, %a1) : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: gamma [3, 4] does not broadcast to normalised [4]
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3x4xf32>) {
  %r = ge.LayerNorm(%a0, %a1) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: axis 3 is out of range [-3, 2] for rank 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.RMSNorm(%a0) axis 3 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: axis -4 is out of range [-3, 2] for rank 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Softmax(%a0) axis -4 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: x has element type i32, expected one of f32, f64, f16, bf16
func.func @main(%a0: tensor<2xi32>) {
  %r = ge.LogSoftmax(%a0) : (tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// CHECK: kernel is [3], expected 2 values of at least 1
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.MaxPool(%a0) kernel [3] : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: pads [2, 0, 0, 0] are not smaller than the window [2, 2]
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.AvgPool(%a0) kernel [2, 2] pads [2, 0, 0, 0] : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: dimension 2 is 3, not 2
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.MaxPool(%a0) kernel [3, 3] strides [3, 3] : (tensor<1x4x6x6xf32>) -> tensor<1x4x3x2xf32>
  func.return
}

// -----

// CHECK: property 'kernel' expected in operation 'ge.MaxPool'
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.MaxPool(%a0) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: x has rank 2, expected rank 3 or more
func.func @main(%a0: tensor<2x3xf32>) {
  %r = ge.GlobalAveragePool(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: axes [0, -3] name a dimension twice (rank 3)
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.ReduceSum(%a0) axes [0, -3] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: axis 5 is out of range [-3, 2] for rank 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.ReduceMean(%a0) axes [5] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: x has element type i1, expected one of
func.func @main(%a0: tensor<2xi1>) {
  %r = ge.ReduceProd(%a0) axes [0] : (tensor<2xi1>) -> tensor<i1>
  func.return
}

// -----

// CHECK: element type f32 is not i64
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.ArgMax(%a0) axis 0 : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: x [2, 0] has no extremes along its empty dimension 1
func.func @main(%a0: tensor<2x0xf32>) {
  %r = ge.ArgMax(%a0) axis 1 : (tensor<2x0xf32>) -> tensor<2xi64>
  func.return
}
