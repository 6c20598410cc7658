// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @floats(%x: tensor<4xf32>) {
  // CHECK: x has element type f32
  %0 = ge.BitwiseNot(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @signed(%x: tensor<4xi8>) {
  // CHECK: x1 has element type i8
  %0 = ge.BitShift(%x, %x) direction LEFT : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}
