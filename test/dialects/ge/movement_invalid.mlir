// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: x [2, 3, 4] has 24 elements, but the result [5, 5] has 25
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Reshape(%a0) : (tensor<2x3x4xf32>) -> tensor<5x5xf32>
  func.return
}

// -----

// CHECK: x has layout #ge.layout<NHWC>, expected row-major (insert ge.TransData)
func.func @main(%a0: tensor<1x4x6x6xf32, #ge.layout<NHWC>>) {
  %r = ge.Reshape(%a0) : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>) -> tensor<4x36xf32>
  func.return
}

// -----

// CHECK: perm [0, 0, 1] is not a permutation of 0..2
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Transpose(%a0) perm [0, 0, 1] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: layout NHWC is for rank 4, found rank 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.TransData(%a0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32, #ge.layout<NHWC>>
  func.return
}

// -----

// CHECK: dimension 1 is 5, not 4
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.TransData(%a0) : (tensor<1x4x6x6xf32>) -> tensor<1x5x6x6xf32, #ge.layout<NHWC>>
  func.return
}

// -----

// CHECK: operand 1 [2, 4, 4] and operand 0 [2, 3, 4] differ in dimension 1, and the axis is 0
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2x4x4xf32>) {
  %r = ge.Concat(%a0, %a1) axis 0 : (tensor<2x3x4xf32>, tensor<2x4x4xf32>) -> tensor<4x3x4xf32>
  func.return
}

// -----

// CHECK: operand 1 has rank 2 [3, 4], expected rank 3
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3x4xf32>) {
  %r = ge.Concat(%a0, %a1) axis 0 : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: has no operands, expected at least 1
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.Concat() axis 0 : () -> tensor<2xf32>
  func.return
}

// -----

// CHECK: a step is 0, expected a positive or negative step
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Slice(%a0) starts [0] ends [1] axes [0] steps [0] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: starts, ends, axes, steps have 2, 1, 1, 1 values
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Slice(%a0) starts [0, 1] ends [1] axes [0] steps [1] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: pads has 4 values, expected 2 x rank 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Pad(%a0) pads [0, 0, 0, 0] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: mode reflect pads dimension 0 of size 2 by 2 > 1
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Pad(%a0) pads [2, 0, 0, 0, 0, 0] mode reflect : (tensor<2x3x4xf32>) -> tensor<4x3x4xf32>
  func.return
}

// -----

// CHECK: dimension 1 of size 3 with pads -2 and -2 would be negative
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Pad(%a0) pads [0, -2, 0, 0, -2, 0] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: value has rank 1 [1], expected rank 0
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<1xf32>) {
  %r = ge.Pad(%a0, %a1) pads [0, 0, 0, 0, 0, 0] : (tensor<2x3x4xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: shapes [2, 3, 4] and [3, 5] do not broadcast
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Expand(%a0) : (tensor<2x3x4xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

// CHECK: x [2, 3, 4] does not broadcast to [3, 4]
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Expand(%a0) : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: repeats is [1, 2], expected 3 values of at least 0
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r = ge.Tile(%a0) repeats [1, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: sizes [1, 1] add up to 2, but dimension 1 is 3
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r0, %r1 = ge.Split(%a0) axis 1 sizes [1, 1] : (tensor<2x3x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xf32>)
  func.return
}

// -----

// CHECK: has 3 results, expected 2
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r0, %r1, %r2 = ge.Split(%a0) axis 1 sizes [1, 2] : (tensor<2x3x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>)
  func.return
}

// -----

// CHECK: result 1 has type tensor<2x1x4xf32>, expected tensor<2x2x4xf32>: dimension 1 is 1, not 2
func.func @main(%a0: tensor<2x3x4xf32>) {
  %r0, %r1 = ge.Split(%a0) axis 1 sizes [1, 2] : (tensor<2x3x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xf32>)
  func.return
}

// -----

// CHECK: indices has element type f32, expected one of i32, i64
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2xf32>) {
  %r = ge.Gather(%a0, %a1) : (tensor<2x3x4xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: indices [3, 1, 1] exceed x [2, 3, 4] in dimension 0
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3x1x1xi64>) {
  %r = ge.GatherElements(%a0, %a1) axis 1 : (tensor<2x3x4xf32>, tensor<3x1x1xi64>) -> tensor<3x1x1xf32>
  func.return
}

// -----

// CHECK: indices pick 4 dimensions, expected 1 to 3
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<5x4xi64>) {
  %r = ge.GatherND(%a0, %a1) : (tensor<2x3x4xf32>, tensor<5x4xi64>) -> tensor<5xf32>
  func.return
}

// -----

// CHECK: batch_dims is 2, expected 0 to 1
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<2x1xi64>) {
  %r = ge.GatherND(%a0, %a1) batch_dims 2 : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: indices [5, ?] have an unknown last dimension, which decides the rank
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<5x?xi64>) {
  %r = ge.GatherND(%a0, %a1) : (tensor<2x3x4xf32>, tensor<5x?xi64>) -> tensor<5xf32>
  func.return
}

// -----

// CHECK: scales is [1.0, 2.0], expected 4 positive values
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.Resize(%a0) scales [1.0, 2.0] : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: block_size^2 = 9 does not divide 4 channels
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.DepthToSpace(%a0) block_size 3 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: block_size = 4 does not divide height = 6
func.func @main(%a0: tensor<1x4x6x6xf32>) {
  %r = ge.SpaceToDepth(%a0) block_size 4 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}
