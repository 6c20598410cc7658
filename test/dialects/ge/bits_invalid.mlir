// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @floats(%x: tensor<4xf32>) {
  // CHECK: x has element type f32
  %0 = ge.BitwiseNot(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @flags(%x: tensor<4xi1>) {
  // CHECK: x1 has element type i1
  %0 = ge.BitShift(%x, %x) direction LEFT : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}
