// RUN: gecc-opt %s -p ge-to-fused,fused-fuse-epilogues --print-debuginfo | filecheck %s

// A bias and GELU: the bias does not show in the name, the locations are all there.
// CHECK-LABEL: func.func @mlp(
// CHECK-NEXT:    %0 = fused.matmul "MatMulV2Relu"(%x, %w, %b) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<7xf32>) -> tensor<4x7xf32> epilogue(%d0: index, %d1: index, %acc: f32, %t0: tensor<4x5xf32>, %t1: tensor<5x7xf32>, %t2: tensor<7xf32>) {
// CHECK-NEXT:      %1 = fused.load %t2[%d1] : tensor<7xf32> loc("bias")
// CHECK-NEXT:      %2 = arith.addf %acc, %1 : f32 loc("bias")
// CHECK-NEXT:      %3 = arith.constant 0.000000e+00 : f32 loc("act")
// CHECK-NEXT:      %4 = arith.maximumf %2, %3 : f32 loc("act")
// CHECK-NEXT:      fused.yield %4 : f32 loc(fused["fc", "bias", "act"])
// CHECK-NEXT:    } loc(fused["fc", "bias", "act"])
// CHECK-NEXT:    func.return %0 : tensor<4x7xf32> loc(unknown)
// CHECK-NEXT:  } loc(unknown)
func.func @mlp(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<4x7xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32> loc("fc")
  %1 = ge.Add(%0, %b) : (tensor<4x7xf32>, tensor<7xf32>) -> tensor<4x7xf32> loc("bias")
  %2 = ge.Relu(%1) : (tensor<4x7xf32>) -> tensor<4x7xf32> loc("act")
  func.return %2 : tensor<4x7xf32>
}

// A residual in the convolution's layout, then an activation: one operation, read at the result's own indices.
// CHECK-LABEL: func.func @residual(
// CHECK-NEXT:    fused.conv "Conv2DAddRelu"(%x, %w, %b, %r)
// CHECK-NEXT:      fused.load %{{.*}}[%d1] : tensor<6xf32>
// CHECK-NEXT:      arith.addf %acc
// CHECK-NEXT:      fused.load %{{.*}}[%d0, %d1, %d2, %d3] : tensor<1x6x7x6xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      arith.constant 0.0
// CHECK-NEXT:      arith.maximumf
// CHECK-NEXT:      fused.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @residual(%x: tensor<1x4x9x8xf32, #ge.layout<NHWC>>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>, %r: tensor<1x6x7x6xf32, #ge.layout<NHWC>>) -> tensor<1x6x7x6xf32, #ge.layout<NHWC>> {
  %0 = ge.Conv2D(%x, %w, %b) : (tensor<1x4x9x8xf32, #ge.layout<NHWC>>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x7x6xf32, #ge.layout<NHWC>>
  %1 = ge.Add(%r, %0) : (tensor<1x6x7x6xf32, #ge.layout<NHWC>>, tensor<1x6x7x6xf32, #ge.layout<NHWC>>) -> tensor<1x6x7x6xf32, #ge.layout<NHWC>>
  %2 = ge.Relu(%1) : (tensor<1x6x7x6xf32, #ge.layout<NHWC>>) -> tensor<1x6x7x6xf32, #ge.layout<NHWC>>
  func.return %2 : tensor<1x6x7x6xf32, #ge.layout<NHWC>>
}

// An Add of a number, or of a vector along another dimension than the bias's, is not a bias: it shows in the name.
// CHECK-LABEL: func.func @not_a_bias(
// CHECK-NEXT:    fused.matmul "MatMulV2Add"(%x, %w)
// CHECK:         fused.matmul "MatMulV2Add"(%x, %w, %c)
// CHECK-NOT:     fused.generic
func.func @not_a_bias(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>, %c: tensor<4x1xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %one = ge.Const dense<1.0> : tensor<f32>
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %1 = ge.Add(%0, %one) : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x7xf32>
  %2 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %3 = ge.Add(%2, %c) : (tensor<4x7xf32>, tensor<4x1xf32>) -> tensor<4x7xf32>
  func.return %1, %3 : tensor<4x7xf32>, tensor<4x7xf32>
}

// Softmax, normalisation and reductions take epilogues too; a Cast changes the element type.
// CHECK-LABEL: func.func @anchors(
// CHECK-NEXT:    fused.softmax "SoftmaxCast"(%x) {{.*}} -> tensor<4x5xf16>
// CHECK:         fused.norm "LayerNormTanh"(%x)
// CHECK:         fused.generic "ReduceMeanSqrt"(%x)
// CHECK-NOT:     fused.generic
func.func @anchors(%x: tensor<4x5xf32>) -> (tensor<4x5xf16>, tensor<4x5xf32>, tensor<4xf32>) {
  %0 = ge.Softmax(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = ge.Cast(%0) : (tensor<4x5xf32>) -> tensor<4x5xf16>
  %2 = ge.LayerNorm(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = ge.Tanh(%2) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = ge.ReduceMean(%x) axes [1] : (tensor<4x5xf32>) -> tensor<4xf32>
  %5 = ge.Sqrt(%4) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3, %5 : tensor<4x5xf16>, tensor<4x5xf32>, tensor<4xf32>
}

// The same result on both sides of one consumer is one use.
// CHECK-LABEL: func.func @square(
// CHECK-NEXT:    fused.matmul "MatMulV2Mul"(%x, %w)
// CHECK-NEXT:      arith.mulf %acc, %acc : f32
// CHECK-NOT:     fused.generic
func.func @square(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>) -> tensor<4x7xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %1 = ge.Mul(%0, %0) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %1 : tensor<4x7xf32>
}

// Two products added: one takes the other as its residual.
// CHECK-LABEL: func.func @two(
// CHECK-NEXT:    %[[FIRST:.*]] = fused.matmul "MatMulV2"(%y, %w)
// CHECK:         fused.matmul "MatMulV2Add"(%x, %w, %[[FIRST]])
// CHECK-NOT:     fused.generic
func.func @two(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>, %w: tensor<5x7xf32>) -> tensor<4x7xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %1 = ge.MatMulV2(%y, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %2 = ge.Add(%0, %1) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %2 : tensor<4x7xf32>
}

// Through a view: the residual is viewed like the result, the bias and the scale along the last dimension stay.
// CHECK-LABEL: func.func @view(
// CHECK:         %[[R:.*]] = fused.view %r : tensor<2x3x5xf32> -> tensor<6x5xf32>
// CHECK-NEXT:    %[[P:.*]] = fused.matmul "MatMulV2AddMul"(%x, %w, %b, %[[R]], %s) : {{.*}} -> tensor<6x5xf32>
// CHECK:           fused.load %{{.*}}[%d1] : tensor<5xf32>
// CHECK:           fused.load %{{.*}}[%d0, %d1] : tensor<6x5xf32>
// CHECK:           fused.load %{{.*}}[%d1] : tensor<5xf32>
// CHECK:         %[[V:.*]] = fused.view %[[P]] : tensor<6x5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT:    func.return %[[V]]
func.func @view(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>, %r: tensor<2x3x5xf32>, %s: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = ge.Reshape(%0) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %2 = ge.Add(%1, %b) : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  %3 = ge.Add(%2, %r) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %4 = ge.Mul(%3, %s) : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  func.return %4 : tensor<2x3x5xf32>
}

// The views that moving makes fold with those that were there: a residual that was viewed from the result's shape.
// CHECK-LABEL: func.func @views_fold(
// CHECK-NEXT:    %[[P:.*]] = fused.matmul "MatMulV2Add"(%x, %w, %r)
// CHECK:         fused.view %[[P]]
// CHECK-NOT:     fused.view
func.func @views_fold(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %r: tensor<6x5xf32>) -> tensor<2x3x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = ge.Reshape(%0) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %2 = ge.Reshape(%r) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %3 = ge.Add(%1, %2) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %3 : tensor<2x3x5xf32>
}

// Near miss: two products at two shapes could draw the sum to and fro; it stays where it is.
// CHECK-LABEL: func.func @rivals(
// CHECK:         fused.matmul "MatMulV2"(%x, %w)
// CHECK:         fused.view
// CHECK:         fused.matmul "MatMulV2"(%y, %w)
// CHECK:         fused.view
// CHECK-NEXT:    fused.generic "Add"(
func.func @rivals(%x: tensor<6x4xf32>, %y: tensor<3x2x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = ge.Reshape(%0) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %2 = ge.MatMulV2(%y, %w) : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %3 = ge.Reshape(%2) : (tensor<3x2x5xf32>) -> tensor<2x3x5xf32>
  %4 = ge.Add(%1, %3) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %4 : tensor<2x3x5xf32>
}

// Near misses: a result that is used again, one that is returned, one that broadcasts, one read transposed, one
// reduced, and one whose user is no scalar region.
// CHECK-LABEL: func.func @used_twice(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "Relu"(
// CHECK:         fused.generic "Tanh"(
func.func @used_twice(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %1 = ge.Relu(%0) : (tensor<4x7xf32>) -> tensor<4x7xf32>
  %2 = ge.Tanh(%0) : (tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %1, %2 : tensor<4x7xf32>, tensor<4x7xf32>
}

// CHECK-LABEL: func.func @returned(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "Relu"(
func.func @returned(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  %1 = ge.Relu(%0) : (tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %0, %1 : tensor<4x7xf32>, tensor<4x7xf32>
}

// CHECK-LABEL: func.func @broadcasts(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "Add"(
func.func @broadcasts(%x: tensor<1x5xf32>, %w: tensor<5x7xf32>, %y: tensor<4x7xf32>) -> tensor<4x7xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<1x5xf32>, tensor<5x7xf32>) -> tensor<1x7xf32>
  %1 = ge.Add(%0, %y) : (tensor<1x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %1 : tensor<4x7xf32>
}

// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "Transpose"(
func.func @transposed(%x: tensor<4x5xf32>, %w: tensor<5x4xf32>) -> tensor<4x4xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %1 = ge.Transpose(%0) perm [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @reduced(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "ReduceMax"(
func.func @reduced(%x: tensor<4x5xf32>, %w: tensor<5x4xf32>) -> tensor<4xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %1 = ge.ReduceMax(%0) axes [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @anchor_next(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.matmul "MatMulV2"(
func.func @anchor_next(%x: tensor<4x5xf32>, %w: tensor<5x5xf32>) -> tensor<4x5xf32> {
  %0 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>
  %1 = ge.MatMulV2(%0, %w) : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>
  func.return %1 : tensor<4x5xf32>
}
