// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: inner dimensions differ: a is [3, 4], b is [3, 4] (after transposition)
func.func @main(%a0: tensor<3x4xf32>, %a1: tensor<3x4xf32>) {
  %r = ge.MatMulV2(%a0, %a1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: a has rank 1 [4], expected rank 2 or more
func.func @main(%a0: tensor<4xf32>, %a1: tensor<4x2xf32>) {
  %r = ge.MatMulV2(%a0, %a1) : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: shapes [2] and [3] do not broadcast: 2 and 3 in dimension 0
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3x4x5xf32>) {
  %r = ge.MatMulV2(%a0, %a1) : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: bias has 3 elements, expected N = 5
func.func @main(%a0: tensor<3x4xf32>, %a1: tensor<4x5xf32>, %a2: tensor<3xf32>) {
  %r = ge.MatMulV2(%a0, %a1, %a2) : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// CHECK: group = 3 does not divide input channels = 4
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x1x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) group 3 : (tensor<1x4x6x6xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: group = 2 does not divide output channels = 5
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<5x2x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) group 2 : (tensor<1x4x6x6xf32>, tensor<5x2x3x3xf32>) -> tensor<1x5x4x4xf32>
  func.return
}

// -----

// CHECK: w [6, 3, 3, 3] has 3 channels, expected 4 / group 1
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x3x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) : (tensor<1x4x6x6xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: height 6 with pads 0 + 1 is smaller than the window 9
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x4x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) pads [0, 0, 1, 0] dilations [4, 1] : (tensor<1x4x6x6xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: strides is [0, 1], expected 2 values of at least 1
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x4x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) strides [0, 1] : (tensor<1x4x6x6xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: pads is [1, 1], expected 4 values (top, left, bottom, right) of at least 0
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x4x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) pads [1, 1] : (tensor<1x4x6x6xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: bias has 4 elements, expected 6 output channels
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<6x4x3x3xf32>, %a2: tensor<4xf32>) {
  %r = ge.Conv2D(%a0, %a1, %a2) : (tensor<1x4x6x6xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// -----

// CHECK: x has element type i64, expected one of f32, f64, f16, bf16, i8, i16, i32
func.func @main(%a0: tensor<1x4x6x6xi64>, %a1: tensor<6x4x3x3xi64>) {
  %r = ge.Conv2D(%a0, %a1) : (tensor<1x4x6x6xi64>, tensor<6x4x3x3xi64>) -> tensor<1x6x4x4xi64>
  func.return
}

// -----

// CHECK: x has rank 3 [2, 3, 4], expected rank 4
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<6x4x3x3xf32>) {
  %r = ge.Conv2D(%a0, %a1) : (tensor<2x3x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: w [3, 2, 3, 3] has 3 input channels, expected 4
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<3x2x3x3xf32>) {
  %r = ge.ConvTranspose2D(%a0, %a1) : (tensor<1x4x6x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  func.return
}

// -----

// CHECK: output_padding is [-1, 0], expected 2 values of at least 0
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<4x2x3x3xf32>) {
  %r = ge.ConvTranspose2D(%a0, %a1) output_padding [-1, 0] : (tensor<1x4x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  func.return
}

// -----

// CHECK: width of the result would be -2: pads 5 + 5 are too large
func.func @main(%a0: tensor<1x4x6x6xf32>, %a1: tensor<4x2x3x3xf32>) {
  %r = ge.ConvTranspose2D(%a0, %a1) pads [0, 5, 0, 5] : (tensor<1x4x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  func.return
}
