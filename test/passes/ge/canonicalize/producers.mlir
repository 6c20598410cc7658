// RUN: gecc-opt %s -p ge-canonicalize --print-debuginfo | filecheck %s

// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT:    %[[A:.*]] = ge.Add(%y, %x) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32> loc(fused["expand", "add"])
// CHECK-NEXT:    %[[S:.*]] = ge.Select(%c, %x, %y) : (tensor<3x1xi1>, tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc(fused["expand", "select"])
// CHECK-NEXT:    ge.Mod(%x, %y) fmod true : (tensor<4xf32>, tensor<3x4xf32>)
func.func @broadcast(%x: tensor<4xf32>, %y: tensor<3x4xf32>, %c: tensor<3x1xi1>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = ge.Expand(%x) : (tensor<4xf32>) -> tensor<3x4xf32> loc("expand")
  %1 = ge.Add(%y, %0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("add")
  %2 = ge.Select(%c, %0, %y) : (tensor<3x1xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("select")
  %3 = ge.Mod(%0, %y) fmod true : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("mod")
  func.return %1, %2, %3 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// Both operands are expanded: one Expand says the shape and stays.
// CHECK-LABEL: func.func @broadcast_both
// CHECK-NEXT:    %[[E:.*]] = ge.Expand(%x)
// CHECK-NEXT:    ge.Mul(%x, %[[E]]) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
func.func @broadcast_both(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = ge.Expand(%x) : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = ge.Mul(%0, %0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %1 : tensor<3x4xf32>
}

// Nothing else says the 3 rows; a Relu has no other operand.
// CHECK-LABEL: func.func @broadcast_near_misses
// CHECK-NEXT:    %[[E:.*]] = ge.Expand(%x)
// CHECK-NEXT:    ge.Add(%[[E]], %y)
// CHECK-NEXT:    ge.Relu(%[[E]])
func.func @broadcast_near_misses(%x: tensor<4xf32>, %y: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = ge.Expand(%x) : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = ge.Add(%0, %y) : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %2 = ge.Relu(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %1, %2 : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @broadcast_layout
// CHECK-NEXT:    ge.Expand
// CHECK-NEXT:    ge.Add
func.func @broadcast_layout(%x: tensor<1x2x1x1xf32, #ge.layout<NHWC>>, %y: tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>> {
  %0 = ge.Expand(%x) : (tensor<1x2x1x1xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  %1 = ge.Add(%0, %y) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>, tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  func.return %1 : tensor<1x2x3x4xf32, #ge.layout<NHWC>>
}

// CHECK-LABEL: func.func @matmul
// CHECK-NEXT:    ge.MatMulV2(%a, %b, %c) transpose_x2 true : {{.*}} loc(fused["transpose", "matmul"])
// CHECK-NEXT:    ge.MatMulV2(%a, %d) : {{.*}} loc(fused["back", "other"])
func.func @matmul(%a: tensor<5x2x3xf32>, %b: tensor<5x4x3xf32>, %c: tensor<4xf32>, %d: tensor<3x4xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x4xf32>) {
  %0 = ge.Transpose(%b) perm [0, 2, 1] : (tensor<5x4x3xf32>) -> tensor<5x3x4xf32> loc("transpose")
  %1 = ge.MatMulV2(%a, %0, %c) : (tensor<5x2x3xf32>, tensor<5x3x4xf32>, tensor<4xf32>) -> tensor<5x2x4xf32> loc("matmul")
  %2 = ge.Transpose(%d) perm [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32> loc("back")
  %3 = ge.MatMulV2(%a, %2) transpose_x2 true : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32> loc("other")
  func.return %1, %3 : tensor<5x2x4xf32>, tensor<5x2x4xf32>
}

// More than the matrix is turned; the left operand is turned.
// CHECK-LABEL: func.func @matmul_near_misses
// CHECK-NEXT:    ge.Transpose
// CHECK-NEXT:    ge.MatMulV2
// CHECK-NEXT:    ge.Transpose
// CHECK-NEXT:    ge.MatMulV2
func.func @matmul_near_misses(%a: tensor<5x2x3xf32>, %b: tensor<4x5x3xf32>, %c: tensor<3x2xf32>, %d: tensor<3x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
  %0 = ge.Transpose(%b) perm [1, 2, 0] : (tensor<4x5x3xf32>) -> tensor<5x3x4xf32>
  %1 = ge.MatMulV2(%a, %0) : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %2 = ge.Transpose(%c) perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = ge.MatMulV2(%2, %d) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %1, %3 : tensor<5x2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @conv
// CHECK-NEXT:    ge.Conv2D(%x, %w) strides [2, 2] pads [1, 2, 4, 5] : {{.*}} loc(fused["pad", "conv"])
func.func @conv(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x7xf32> {
  %zero = ge.Const dense<0.0> : tensor<f32>
  %0 = ge.Pad(%x, %zero) pads [0, 0, 1, 1, 0, 0, 3, 4] : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x12x13xf32> loc("pad")
  %1 = ge.Conv2D(%0, %w) strides [2, 2] pads [0, 1, 1, 1] : (tensor<1x2x12x13xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x7xf32> loc("conv")
  func.return %1 : tensor<1x4x6x7xf32>
}

// Filled with another number, by reflection, in the channels, and removing.
// CHECK-LABEL: func.func @conv_near_misses
// CHECK-COUNT-4: ge.Pad
// CHECK:         func.return
func.func @conv_near_misses(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>, %v: tensor<4x3x3x3xf32>) -> (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x5x6xf32>) {
  %one = ge.Const dense<1.0> : tensor<f32>
  %0 = ge.Pad(%x, %one) pads [0, 0, 1, 0, 0, 0, 0, 0] : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x9x8xf32>
  %1 = ge.Conv2D(%0, %w) : (tensor<1x2x9x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x7x6xf32>
  %2 = ge.Pad(%x) pads [0, 0, 1, 0, 0, 0, 0, 0] mode reflect : (tensor<1x2x8x8xf32>) -> tensor<1x2x9x8xf32>
  %3 = ge.Conv2D(%2, %w) : (tensor<1x2x9x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x7x6xf32>
  %4 = ge.Pad(%x) pads [0, 1, 0, 0, 0, 0, 0, 0] : (tensor<1x2x8x8xf32>) -> tensor<1x3x8x8xf32>
  %5 = ge.Conv2D(%4, %v) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %6 = ge.Pad(%x) pads [0, 0, -1, 0, 0, 0, 0, 0] : (tensor<1x2x8x8xf32>) -> tensor<1x2x7x8xf32>
  %7 = ge.Conv2D(%6, %w) : (tensor<1x2x7x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x5x6xf32>
  func.return %1, %3, %5, %7 : tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x5x6xf32>
}
