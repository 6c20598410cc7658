// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: roi is [], expected 8 values
func.func @main(%x: tensor<1x2x4x4xf32>) {
  %r = ge.Resize(%x) scales [1, 1, 1, 1] coordinate_mode tf_crop_and_resize : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return
}

// -----

// CHECK: roi is [0.0, 1.0], expected 0 values
func.func @main(%x: tensor<1x2x4x4xf32>) {
  %r = ge.Resize(%x) roi [0, 1] scales [1, 1, 1, 1] : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return
}

// -----

// CHECK: x has element type i1
func.func @main(%x: tensor<1x2x4x4xi1>) {
  %r = ge.Resize(%x) scales [1, 1, 1, 1] mode cubic : (tensor<1x2x4x4xi1>) -> tensor<1x2x4x4xi1>
  func.return
}

// -----

// CHECK: scales is [1.0, 1.0], expected 4 positive values
func.func @main(%x: tensor<1x2x4x4xf32>) {
  %r = ge.Resize(%x) scales [1, 1] : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return
}
