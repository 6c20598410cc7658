// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: scale has element type f16, but x has f32
func.func @main(%x: tensor<4xf32>, %s: tensor<f16>) {
  %r = ge.Quantize(%x, %s) : (tensor<4xf32>, tensor<f16>) -> tensor<4xi8>
  func.return
}

// -----

// CHECK: result has element type i32, expected one of i8, ui8, i16, ui16
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) {
  %r = ge.Quantize(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: zero_point has element type ui8, but result has i8
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  %r = ge.Quantize(%x, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xi8>
  func.return
}

// -----

// CHECK: x has element type i64, expected one of i8, ui8, i16, ui16, i32
func.func @main(%x: tensor<4xi64>, %s: tensor<f32>) {
  %r = ge.Dequantize(%x, %s) : (tensor<4xi64>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: scale has shape [3], expected [] or [4] for x [2, 4], axis 1, block_size 0
func.func @main(%x: tensor<2x4xi8>, %s: tensor<3xf32>) {
  %r = ge.Dequantize(%x, %s) : (tensor<2x4xi8>, tensor<3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: zero_point has shape [], but scale has [4]
func.func @main(%x: tensor<2x4xi8>, %s: tensor<4xf32>, %z: tensor<i8>) {
  %r = ge.Dequantize(%x, %s, %z) : (tensor<2x4xi8>, tensor<4xf32>, tensor<i8>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: scale has shape [2, 3], expected [] or [2, 2] for x [2, 4], axis 1, block_size 2
func.func @main(%x: tensor<2x4xi8>, %s: tensor<2x3xf32>) {
  %r = ge.Dequantize(%x, %s) block_size 2 : (tensor<2x4xi8>, tensor<2x3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: block_size is -1, expected at least 0
func.func @main(%x: tensor<2x4xi8>, %s: tensor<f32>) {
  %r = ge.Dequantize(%x, %s) block_size -1 : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: axis 2 is out of range [-2, 1] for rank 2
func.func @main(%x: tensor<2x4xi8>, %s: tensor<4xf32>) {
  %r = ge.Dequantize(%x, %s) axis 2 : (tensor<2x4xi8>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: bias has element type i16, but the result has i32
func.func @main(%a: tensor<2x4xi16>, %b: tensor<4x3xi16>, %c: tensor<3xi16>) {
  %r = ge.MatMulV2(%a, %b, %c) : (tensor<2x4xi16>, tensor<4x3xi16>, tensor<3xi16>) -> tensor<2x3xi32>
  func.return
}

// -----

// CHECK: element type i32 is not i64
func.func @main(%a: tensor<2x4xi64>, %b: tensor<4x3xi64>) {
  %r = ge.MatMulV2(%a, %b) : (tensor<2x4xi64>, tensor<4x3xi64>) -> tensor<2x3xi32>
  func.return
}
