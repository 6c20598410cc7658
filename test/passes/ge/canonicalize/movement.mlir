// RUN: gecc-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @nothing_moves
// CHECK-NEXT:    func.return %x
func.func @nothing_moves(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = ge.Reshape(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = ge.Transpose(%0) perm [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = ge.Slice(%1) starts [0, -2] ends [9223372036854775807, 2] axes [1, 0] steps [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = ge.Pad(%2) pads [0, 0, 0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = ge.Expand(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = ge.Tile(%4) repeats [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = ge.Concat(%5) axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = ge.Split(%6) axis 0 sizes [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = ge.TransData(%7) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @no_resize
// CHECK-NEXT:    func.return %x
func.func @no_resize(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = ge.Resize(%x) mode linear scales [1.0, 1.0, 1.0, 1.0] : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  func.return %0 : tensor<1x2x3x4xf32>
}

// The type stays, but elements move: a turn, a transposition of a square, a roll by padding, a scale near 1.
// CHECK-LABEL: func.func @same_type_but_moves
// CHECK-NEXT:    ge.Slice(%x) {{.*}} steps [-1]
// CHECK-NEXT:    ge.Transpose(%x)
// CHECK-NEXT:    ge.Pad(%x)
// CHECK-NEXT:    ge.Resize(%y)
func.func @same_type_but_moves(%x: tensor<3x3xf32>, %y: tensor<1x1x4x4xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x1x4x4xf32>) {
  %0 = ge.Slice(%x) starts [-1] ends [-4] axes [0] steps [-1] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = ge.Transpose(%x) perm [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = ge.Pad(%x) pads [1, 0, -1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = ge.Resize(%y) scales [1.0, 1.0, 1.125, 1.125] : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %0, %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x1x4x4xf32>
}

// With unknown dimensions equal types need not be equal shapes.
// CHECK-LABEL: func.func @unknown_shapes
// CHECK-NEXT:    ge.Reshape(%x)
// CHECK-NEXT:    ge.Expand(%x)
// CHECK-NEXT:    ge.Slice(%x)
func.func @unknown_shapes(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = ge.Reshape(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = ge.Expand(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = ge.Slice(%x) starts [0] ends [4] axes [0] steps [1] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// Turning a dimension of one element moves nothing.
// CHECK-LABEL: func.func @turn_of_one
// CHECK-NEXT:    func.return %x
func.func @turn_of_one(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = ge.Slice(%x) starts [-1] ends [-2] axes [0] steps [-1] : (tensor<1x3xf32>) -> tensor<1x3xf32>
  func.return %0 : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT:    %[[R:.*]] = ge.Reshape(%x) : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %[[R]], %x
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = ge.Reshape(%x) : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = ge.Reshape(%0) : (tensor<12xf32>) -> tensor<4x3xf32>
  %2 = ge.Reshape(%0) : (tensor<12xf32>) -> tensor<2x6xf32>
  func.return %1, %2 : tensor<4x3xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-NEXT:    %[[T:.*]] = ge.Transpose(%x) perm [0, 2, 3, 1] : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT:    func.return %[[T]], %x
func.func @transposes(%x: tensor<2x3x4x5xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x3x4x5xf32>) {
  %0 = ge.Transpose(%x) perm [0, 2, 1, 3] : (tensor<2x3x4x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = ge.Transpose(%0) perm [0, 1, 3, 2] : (tensor<2x4x3x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = ge.Transpose(%0) perm [0, 2, 1, 3] : (tensor<2x4x3x5xf32>) -> tensor<2x3x4x5xf32>
  func.return %1, %2 : tensor<2x4x5x3xf32>, tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @transpose_of_ones
// CHECK-NEXT:    %[[R:.*]] = ge.Reshape(%x) : (tensor<1x4x1x5xf32>) -> tensor<4x1x5x1xf32>
// CHECK-NEXT:    func.return %[[R]]
func.func @transpose_of_ones(%x: tensor<1x4x1x5xf32>) -> tensor<4x1x5x1xf32> {
  %0 = ge.Transpose(%x) perm [1, 0, 3, 2] : (tensor<1x4x1x5xf32>) -> tensor<4x1x5x1xf32>
  func.return %0 : tensor<4x1x5x1xf32>
}

// Two longer dimensions change places; an operand with a layout cannot be reshaped.
// CHECK-LABEL: func.func @transpose_near_misses
// CHECK-NEXT:    ge.Transpose(%x)
// CHECK-NEXT:    ge.Transpose(%y)
func.func @transpose_near_misses(%x: tensor<1x4x5xf32>, %y: tensor<1x4x1x1xf32, #ge.layout<NHWC>>) -> (tensor<5x1x4xf32>, tensor<1x1x4x1xf32>) {
  %0 = ge.Transpose(%x) perm [2, 0, 1] : (tensor<1x4x5xf32>) -> tensor<5x1x4xf32>
  %1 = ge.Transpose(%y) perm [0, 2, 1, 3] : (tensor<1x4x1x1xf32, #ge.layout<NHWC>>) -> tensor<1x1x4x1xf32>
  func.return %0, %1 : tensor<5x1x4xf32>, tensor<1x1x4x1xf32>
}

// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<10x8xf32>) -> (tensor<2x8xf32>, tensor<3x8xf32>, tensor<3x2xf32>, tensor<0x8xf32>) {
  // Every second of 1..9 is 1 3 5 7, of which the last two are 5 7.
  // CHECK-NEXT: %[[A:.*]] = ge.Slice(%x) starts [5, 0] ends [9, 8] axes [0, 1] steps [2, 1] : (tensor<10x8xf32>) -> tensor<2x8xf32>
  // Turned they are 7 5 3 1; without the first, down to 1.
  // CHECK-NEXT: %[[B:.*]] = ge.Slice(%x) starts [5, 0] ends [-11, 8] axes [0, 1] steps [-2, 1] : (tensor<10x8xf32>) -> tensor<3x8xf32>
  // Of two dimensions.
  // CHECK-NEXT: %[[C:.*]] = ge.Slice(%x) starts [1, 6] ends [7, 8] axes [0, 1] steps [2, 1] : (tensor<10x8xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[D:.*]] = ge.Slice(%x) starts [0, 0] ends [0, 8] axes [0, 1] steps [1, 1] : (tensor<10x8xf32>) -> tensor<0x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = ge.Slice(%x) starts [1] ends [9] axes [0] steps [2] : (tensor<10x8xf32>) -> tensor<4x8xf32>
  %1 = ge.Slice(%0) starts [-2] ends [100] axes [-2] steps [1] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %2 = ge.Slice(%0) starts [-1] ends [-5] axes [0] steps [-1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = ge.Slice(%2) starts [1] ends [4] axes [0] steps [1] : (tensor<4x8xf32>) -> tensor<3x8xf32>
  %4 = ge.Slice(%0) starts [0, 6] ends [3, 8] axes [0, 1] steps [1, 1] : (tensor<4x8xf32>) -> tensor<3x2xf32>
  %5 = ge.Slice(%0) starts [3] ends [3] axes [0] steps [1] : (tensor<4x8xf32>) -> tensor<0x8xf32>
  func.return %1, %3, %4, %5 : tensor<2x8xf32>, tensor<3x8xf32>, tensor<3x2xf32>, tensor<0x8xf32>
}

// Where the first ends depends on a dimension that is not known.
// CHECK-LABEL: func.func @slices_unknown
// CHECK-NEXT:    ge.Slice(%x)
// CHECK-NEXT:    ge.Slice
func.func @slices_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ge.Slice(%x) starts [1] ends [9] axes [0] steps [1] : (tensor<?xf32>) -> tensor<?xf32>
  %1 = ge.Slice(%0) starts [1] ends [3] axes [0] steps [1] : (tensor<?xf32>) -> tensor<?xf32>
  func.return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @pads
// CHECK:         %[[A:.*]] = ge.Pad(%x) pads [1, 2, 3, 4] : (tensor<4x4xf32>) -> tensor<8x10xf32>
// CHECK:         %[[B:.*]] = ge.Pad(%x, %{{.*}}) pads [1, 0, 1, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<6x4xf32>
// CHECK-NEXT:    func.return %[[A]], %[[B]]
func.func @pads(%x: tensor<4x4xf32>) -> (tensor<8x10xf32>, tensor<6x4xf32>) {
  %v = ge.Const dense<7.0> : tensor<f32>
  %0 = ge.Pad(%x) pads [1, 0, 3, 1] : (tensor<4x4xf32>) -> tensor<8x5xf32>
  %1 = ge.Pad(%0) pads [0, 2, 0, 3] : (tensor<8x5xf32>) -> tensor<8x10xf32>
  %2 = ge.Pad(%x, %v) pads [1, 0, 0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  %3 = ge.Pad(%2, %v) pads [0, 0, 1, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  func.return %1, %3 : tensor<8x10xf32>, tensor<6x4xf32>
}

// Other values, other modes, and a pad that takes away what the first has added.
// CHECK-LABEL: func.func @pads_near_misses
// CHECK-COUNT-6: ge.Pad
// CHECK:         func.return
func.func @pads_near_misses(%x: tensor<4x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>) {
  %v = ge.Const dense<7.0> : tensor<f32>
  %0 = ge.Pad(%x) pads [1, 0, 0, 0] : (tensor<4x4xf32>) -> tensor<5x4xf32>
  %1 = ge.Pad(%0, %v) pads [0, 0, 1, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %2 = ge.Pad(%x) pads [1, 0, 0, 0] mode reflect : (tensor<4x4xf32>) -> tensor<5x4xf32>
  %3 = ge.Pad(%2) pads [0, 0, 1, 0] mode reflect : (tensor<5x4xf32>) -> tensor<6x4xf32>
  %4 = ge.Pad(%x) pads [-1, 0, 0, 0] : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %5 = ge.Pad(%4) pads [1, 0, 0, 0] : (tensor<3x4xf32>) -> tensor<4x4xf32>
  func.return %1, %3, %5 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @expands
// CHECK-NEXT:    %[[E:.*]] = ge.Expand(%x) : (tensor<1x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %[[T:.*]] = ge.Expand(%y) : (tensor<1x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    func.return %[[E]], %[[T]]
func.func @expands(%x: tensor<1x1xf32>, %y: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<5x4xf32>) {
  %0 = ge.Expand(%x) : (tensor<1x1xf32>) -> tensor<3x1xf32>
  %1 = ge.Expand(%0) : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = ge.Tile(%y) repeats [5, 1] : (tensor<1x4xf32>) -> tensor<5x4xf32>
  func.return %1, %2 : tensor<3x4xf32>, tensor<5x4xf32>
}

// A Tile of four elements is no broadcast.
// CHECK-LABEL: func.func @tile
// CHECK-NEXT:    ge.Tile(%y)
func.func @tile(%y: tensor<1x4xf32>) -> tensor<5x8xf32> {
  %0 = ge.Tile(%y) repeats [5, 2] : (tensor<1x4xf32>) -> tensor<5x8xf32>
  func.return %0 : tensor<5x8xf32>
}

// CHECK-LABEL: func.func @layouts
// CHECK-NEXT:    func.return %x
func.func @layouts(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = ge.TransData(%x) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  %1 = ge.TransData(%0) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32>
  func.return %1 : tensor<1x2x3x4xf32>
}

// A change of layout with another operator on the way is two.
// CHECK-LABEL: func.func @layouts_near_miss
// CHECK-NEXT:    ge.TransData
// CHECK-NEXT:    ge.Relu
// CHECK-NEXT:    ge.TransData
func.func @layouts_near_miss(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = ge.TransData(%x) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  %1 = ge.Relu(%0) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  %2 = ge.TransData(%1) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<1x2x3x4xf32>
  func.return %2 : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func.func @reductions
// CHECK-NEXT:    %[[A:.*]] = ge.Reshape(%x) : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %[[A]], %x
func.func @reductions(%x: tensor<2x1x3x1xf32>) -> (tensor<2x3xf32>, tensor<2x1x3x1xf32>) {
  %0 = ge.ReduceMean(%x) axes [1, -1] : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
  %1 = ge.ReduceMax(%x) axes [3] keep_dims true : (tensor<2x1x3x1xf32>) -> tensor<2x1x3x1xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x1x3x1xf32>
}

// One of the dimensions has elements to add up.
// CHECK-LABEL: func.func @reductions_near_miss
// CHECK-NEXT:    ge.ReduceSum
func.func @reductions_near_miss(%x: tensor<2x1x3x1xf32>) -> tensor<2x1xf32> {
  %0 = ge.ReduceSum(%x) axes [1, 2] : (tensor<2x1x3x1xf32>) -> tensor<2x1xf32>
  func.return %0 : tensor<2x1xf32>
}
