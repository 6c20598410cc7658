// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: strides is [1, 1], expected 3 values of at least 1
func.func @main(%x: tensor<2x4x5x6x7xf32>, %w: tensor<6x4x3x3x3xf32>) {
  %r = ge.Conv3D(%x, %w) strides [1, 1] : (tensor<2x4x5x6x7xf32>, tensor<6x4x3x3x3xf32>) -> tensor<2x6x3x4x5xf32>
  func.return
}

// -----

// CHECK: x has rank 4 [2, 4, 6, 7], expected rank 5
func.func @main(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>) {
  %r = ge.Conv3D(%x, %w) : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x4x5xf32>
  func.return
}

// -----

// CHECK: depth 5 with pads 0 + 0 is smaller than the window 7
func.func @main(%x: tensor<2x4x5x6x7xf32>, %w: tensor<6x4x7x3x3xf32>) {
  %r = ge.Conv3D(%x, %w) : (tensor<2x4x5x6x7xf32>, tensor<6x4x7x3x3xf32>) -> tensor<2x6x0x4x5xf32>
  func.return
}

// -----

// CHECK: output_padding is [1], expected 3 values of at least 0
func.func @main(%x: tensor<2x4x5x6x7xf32>, %w: tensor<4x3x2x2x2xf32>) {
  %r = ge.ConvTranspose3D(%x, %w) output_padding [1] : (tensor<2x4x5x6x7xf32>, tensor<4x3x2x2x2xf32>) -> tensor<2x3x6x7x8xf32>
  func.return
}

// -----

// CHECK: kernel is [2, 2], expected 3 values of at least 1
func.func @main(%x: tensor<2x4x5x6x7xf32>) {
  %r = ge.MaxPool(%x) kernel [2, 2] : (tensor<2x4x5x6x7xf32>) -> tensor<2x4x4x5x6xf32>
  func.return
}

// -----

// CHECK: divisor is -1, expected at least 0
func.func @main(%x: tensor<1x4x6x6xf32>) {
  %r = ge.AvgPool(%x) kernel [2, 2] divisor -1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x5x5xf32>
  func.return
}

// -----

// CHECK: result 1 has type tensor<1x4x5x5xi32>, expected tensor<1x4x5x5xi64>: element type i32 is not i64
func.func @main(%x: tensor<1x4x6x6xf32>) {
  %r0, %r1 = ge.MaxPoolWithArgmax(%x) kernel [2, 2] : (tensor<1x4x6x6xf32>) -> (tensor<1x4x5x5xf32>, tensor<1x4x5x5xi32>)
  func.return
}

// -----

// CHECK: expected row-major (insert ge.TransData)
func.func @main(%x: tensor<1x4x6x6xf32, #ge.layout<NHWC>>) {
  %r0, %r1 = ge.MaxPoolWithArgmax(%x) kernel [2, 2] : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>) -> (tensor<1x4x5x5xf32, #ge.layout<NHWC>>, tensor<1x4x5x5xi64, #ge.layout<NHWC>>)
  func.return
}
