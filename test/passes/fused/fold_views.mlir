// RUN: gecc-opt %s -p ge-to-fused,fused-fold-views | filecheck %s

// A view of a view, back to the first type; a view of constants, dense and in the store.
// CHECK-LABEL: func.func @remove(
// CHECK-NEXT:    %0 = fused.const dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    %1 = fused.const #ge.weight<"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", tensor<4096xf32>>
// CHECK-NEXT:    func.return %x, %0, %1
func.func @remove(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4096xf32>) {
  %0 = ge.Reshape(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = ge.Reshape(%0) : (tensor<6xf32>) -> tensor<2x3xf32>
  %c = ge.Const dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %2 = ge.Reshape(%c) : (tensor<1x3xf32>) -> tensor<3xf32>
  %w = ge.Const #ge.weight<"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", tensor<64x64xf32>>
  %3 = ge.Reshape(%w) : (tensor<64x64xf32>) -> tensor<4096xf32>
  func.return %1, %2, %3 : tensor<2x3xf32>, tensor<3xf32>, tensor<4096xf32>
}

// A view whose user can join the epilogue before it is left to fused-fuse-epilogues.
// CHECK-LABEL: func.func @epilogue(
// CHECK:         %[[P:.*]] = fused.matmul "MatMulV2"(%x, %w)
// CHECK:         %[[V:.*]] = fused.view %[[P]] : tensor<6x5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT:    fused.generic "Add"(%[[V]], %b)
func.func @epilogue(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = ge.Reshape(%0) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %2 = ge.Add(%1, %b) : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  func.return %2 : tensor<2x3x5xf32>
}

// A vector along a dimension that the view makes needs its index; so it cannot join, and the view is read through.
// CHECK-LABEL: func.func @needs_index(
// CHECK:         %[[P:.*]] = fused.matmul "MatMulV2"(%x, %w)
// CHECK:         fused.generic "Add"(%[[P]], %b) : (tensor<6x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
// CHECK:           %[[THREE:.*]] = arith.constant 3 : index
// CHECK-NEXT:      %[[ROW:.*]] = arith.muli %d0, %[[THREE]] : index
// CHECK-NEXT:      %[[I:.*]] = arith.addi %[[ROW]], %d1 : index
// CHECK-NEXT:      fused.load %t0[%[[I]], %d2] : tensor<6x5xf32>
// CHECK-NOT:     fused.view
func.func @needs_index(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<3x1xf32>) -> tensor<2x3x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = ge.Reshape(%0) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %2 = ge.Add(%1, %b) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  func.return %2 : tensor<2x3x5xf32>
}

// Near miss: reading through a view that merges dimensions would divide.
// CHECK-LABEL: func.func @divides(
// CHECK-NEXT:    %[[V:.*]] = fused.view %x : tensor<2x3xf32> -> tensor<6xf32>
// CHECK-NEXT:    fused.generic "Relu"(%[[V]])
func.func @divides(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = ge.Reshape(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = ge.Relu(%0) : (tensor<6xf32>) -> tensor<6xf32>
  func.return %1 : tensor<6xf32>
}

// Dimensions of extent 1 come and go freely.
// CHECK-LABEL: func.func @unit(
// CHECK-NEXT:    fused.generic "Mul"(%x, %y) : (tensor<2x3xf32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32> body(
// CHECK-NEXT:      fused.load %t0[%d0, %d2] : tensor<2x3xf32>
// CHECK-NOT:     fused.view
func.func @unit(%x: tensor<2x3xf32>, %y: tensor<2x1x3xf32>) -> tensor<2x1x3xf32> {
  %0 = ge.Reshape(%x) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %1 = ge.Mul(%0, %y) : (tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  func.return %1 : tensor<2x1x3xf32>
}

// An anchor's own operands stay views.
// CHECK-LABEL: func.func @anchor(
// CHECK-NEXT:    %[[V:.*]] = fused.view %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT:    fused.matmul "MatMulV2"(%[[V]], %w)
func.func @anchor(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %0 = ge.Reshape(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = ge.MatMulV2(%0, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  func.return %1 : tensor<6x5xf32>
}
