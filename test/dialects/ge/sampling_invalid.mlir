// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: grid is [2, 4, 6, 3], expected [2, ?, ?, 2]
func.func @main(%x: tensor<2x4x5x7xf32>, %g: tensor<2x4x6x3xf32>) {
  %r = ge.GridSample(%x, %g) : (tensor<2x4x5x7xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x4x6xf32>
  func.return
}

// -----

// CHECK: x has element type i1
func.func @main(%x: tensor<2x4x5x7xi1>, %g: tensor<2x4x6x2xf32>) {
  %r = ge.GridSample(%x, %g) : (tensor<2x4x5x7xi1>, tensor<2x4x6x2xf32>) -> tensor<2x4x4x6xi1>
  func.return
}

// -----

// CHECK: rois is [3, 5], expected [3, 4]
func.func @main(%x: tensor<2x4x5x7xf32>, %s: tensor<3x5xf32>, %b: tensor<3xi64>) {
  %r = ge.RoiAlign(%x, %s, %b) : (tensor<2x4x5x7xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<3x4x1x1xf32>
  func.return
}

// -----

// CHECK: height, width and sampling_ratio are 0, 1 and 0, expected at least 1, 1 and 0
func.func @main(%x: tensor<2x4x5x7xf32>, %s: tensor<3x4xf32>, %b: tensor<3xi64>) {
  %r = ge.RoiAlign(%x, %s, %b) height 0 : (tensor<2x4x5x7xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x4x1x1xf32>
  func.return
}

// -----

// CHECK: groups = 3 does not divide 4 channels
func.func @main(%x: tensor<2x4x5x7xf32>, %o: tensor<2x24x4x6xf32>) {
  %r = ge.DeformableOffsets(%x, %o) kernel [2, 2] groups 3 : (tensor<2x4x5x7xf32>, tensor<2x24x4x6xf32>) -> tensor<2x4x8x12xf32>
  func.return
}

// -----

// CHECK: offsets is [2, 6, 4, 6], expected [2, 8, 4, 6]
func.func @main(%x: tensor<2x4x5x7xf32>, %o: tensor<2x6x4x6xf32>) {
  %r = ge.DeformableOffsets(%x, %o) kernel [2, 2] : (tensor<2x4x5x7xf32>, tensor<2x6x4x6xf32>) -> tensor<2x4x8x12xf32>
  func.return
}

// -----

// CHECK: x [1, 5, 25] has 5 rows, not a multiple of 6
func.func @main(%c: tensor<1x5x25xf32>) {
  %r = ge.Col2Im(%c) image [6, 7] block [2, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x5x25xf32>) -> tensor<1x1x6x7xf32>
  func.return
}

// -----

// CHECK: x [1, 6, 24] has 24 blocks, expected 25
func.func @main(%c: tensor<1x6x24xf32>) {
  %r = ge.Col2Im(%c) image [6, 7] block [2, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x6x24xf32>) -> tensor<1x1x6x7xf32>
  func.return
}
