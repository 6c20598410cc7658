// RUN: gecc-opt %s -p ge-to-fused,fused-fuse-pointwise | filecheck %s

// A chain becomes one operation; the operand read twice is loaded once.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %0 = fused.generic "MulTanhAdd"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xf32>, %t1: tensor<8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %2 = fused.load %t1[%d0] : tensor<8xf32>
// CHECK-NEXT:      %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:      %4 = math.tanh %3 : f32
// CHECK-NEXT:      %5 = arith.addf %4, %1 : f32
// CHECK-NEXT:      fused.yield %5 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ge.Mul(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = ge.Tanh(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = ge.Add(%1, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}

// Index maps compose, and constants of theirs add up: a slice of a slice of a transposition.
// CHECK-LABEL: func.func @compose(
// CHECK-NEXT:    %0 = fused.generic "TransposeSliceSlice"(%x) : (tensor<9x20xf32>) -> tensor<3x9xf32> body(%d0: index, %d1: index, %t0: tensor<9x20xf32>) {
// CHECK-NEXT:      %{{.*}} = arith.constant 7 : index
// CHECK-NEXT:      %[[I:.*]] = arith.addi %d0, %{{.*}} : index
// CHECK-NEXT:      %[[V:.*]] = fused.load %t0[%d1, %[[I]]] : tensor<9x20xf32>
// CHECK-NEXT:      fused.yield %[[V]] : f32
func.func @compose(%x: tensor<9x20xf32>) -> tensor<3x9xf32> {
  %0 = ge.Transpose(%x) perm [1, 0] : (tensor<9x20xf32>) -> tensor<20x9xf32>
  %1 = ge.Slice(%0) starts [3] ends [13] axes [0] steps [1] : (tensor<20x9xf32>) -> tensor<10x9xf32>
  %2 = ge.Slice(%1) starts [4] ends [7] axes [0] steps [1] : (tensor<10x9xf32>) -> tensor<3x9xf32>
  func.return %2 : tensor<3x9xf32>
}

// Into a reduction's body, a softmax's prologue, and a residual of a product.
// CHECK-LABEL: func.func @regions(
// CHECK-NEXT:    fused.generic "MulReduceSum"(%x, %y)
// CHECK:         fused.softmax "MulSoftmax"(%x, %y)
// CHECK:         fused.matmul "MatMulV2"(%x, %w)
// CHECK:         fused.generic "TanhAdd"(%x,
// CHECK-NOT:     fused.generic
func.func @regions(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>, %w: tensor<5x5xf32>) -> (tensor<4xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = ge.Mul(%x, %y) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = ge.ReduceSum(%0) axes [1] : (tensor<4x5xf32>) -> tensor<4xf32>
  %2 = ge.Mul(%x, %y) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = ge.Softmax(%2) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = ge.Tanh(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %5 = ge.MatMulV2(%x, %w) : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>
  %6 = ge.Add(%4, %5) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %1, %3, %6 : tensor<4xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}

// Cheap work on one large operand may be done by every user; then the tensor between is gone.
// CHECK-LABEL: func.func @cheap_twice(
// CHECK-NEXT:    fused.generic "ReluTanh"(%x)
// CHECK:         fused.generic "ReluExp"(%x)
// CHECK-NOT:     fused.generic
func.func @cheap_twice(%x: tensor<64x5xf32>) -> (tensor<64x5xf32>, tensor<64x5xf32>) {
  %0 = ge.Relu(%x) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %1 = ge.Tanh(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %2 = ge.Exp(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  func.return %1, %2 : tensor<64x5xf32>, tensor<64x5xf32>
}

// Near misses. Dear work with two users is done once.
// CHECK-LABEL: func.func @dear_twice(
// CHECK-NEXT:    fused.generic "Erf"(%x)
// CHECK:         fused.generic "Tanh"(
// CHECK:         fused.generic "Exp"(
func.func @dear_twice(%x: tensor<64x5xf32>) -> (tensor<64x5xf32>, tensor<64x5xf32>) {
  %0 = ge.Erf(%x) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %1 = ge.Tanh(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %2 = ge.Exp(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  func.return %1, %2 : tensor<64x5xf32>, tensor<64x5xf32>
}

// Two large operands read by two users would be more traffic than the tensor between.
// CHECK-LABEL: func.func @traffic(
// CHECK-NEXT:    fused.generic "Add"(%x, %y)
// CHECK:         fused.generic "Tanh"(
// CHECK:         fused.generic "Exp"(
func.func @traffic(%x: tensor<64x5xf32>, %y: tensor<64x5xf32>) -> (tensor<64x5xf32>, tensor<64x5xf32>) {
  %0 = ge.Add(%x, %y) : (tensor<64x5xf32>, tensor<64x5xf32>) -> tensor<64x5xf32>
  %1 = ge.Tanh(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %2 = ge.Exp(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  func.return %1, %2 : tensor<64x5xf32>, tensor<64x5xf32>
}

// Windows that overlap would repeat dear work; cheap work they may, up to a limit.
// CHECK-LABEL: func.func @windows(
// CHECK-NEXT:    fused.generic "Tanh"(%x)
// CHECK:         fused.generic "MaxPool"(
// CHECK:         fused.generic "ReluMaxPool"(%x)
// CHECK:         fused.generic "Relu"(%x)
// CHECK:         fused.generic "MaxPool"(
func.func @windows(%x: tensor<1x2x9x9xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x7x7xf32>) {
  %0 = ge.Tanh(%x) : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %1 = ge.MaxPool(%0) kernel [3, 3] strides [2, 2] : (tensor<1x2x9x9xf32>) -> tensor<1x2x4x4xf32>
  %2 = ge.Relu(%x) : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %3 = ge.MaxPool(%2) kernel [3, 3] strides [2, 2] : (tensor<1x2x9x9xf32>) -> tensor<1x2x4x4xf32>
  %4 = ge.Relu(%x) : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %5 = ge.MaxPool(%4) kernel [3, 3] : (tensor<1x2x9x9xf32>) -> tensor<1x2x7x7xf32>
  func.return %1, %3, %5 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x7x7xf32>
}

// A reduction is never repeated, and a result that is returned or that an anchor reads must exist.
// CHECK-LABEL: func.func @must_exist(
// CHECK-NEXT:    fused.generic "ReduceSum"(%x)
// CHECK:         fused.generic "Tanh"(
// CHECK:         fused.generic "Exp"(
// CHECK:         fused.generic "Relu"(
// CHECK:         fused.matmul "MatMulV2"(
func.func @must_exist(%x: tensor<4x5xf32>, %w: tensor<5x5xf32>) -> (tensor<4x1xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = ge.ReduceSum(%x) axes [1] keep_dims true : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %1 = ge.Tanh(%0) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = ge.Exp(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = ge.Relu(%2) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = ge.MatMulV2(%3, %w) : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>
  func.return %1, %2, %4 : tensor<4x1xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}

// What an anchor could take into its epilogue waits for it, although it is cheap and its users could repeat it.
// CHECK-LABEL: func.func @epilogue_first(
// CHECK-NEXT:    fused.matmul "MatMulV2"(
// CHECK:         fused.generic "Relu"(
// CHECK:         fused.generic "Tanh"(
// CHECK:         fused.generic "Exp"(
func.func @epilogue_first(%x: tensor<64x5xf32>, %w: tensor<5x5xf32>) -> (tensor<64x5xf32>, tensor<64x5xf32>) {
  %0 = ge.MatMulV2(%x, %w) : (tensor<64x5xf32>, tensor<5x5xf32>) -> tensor<64x5xf32>
  %1 = ge.Relu(%0) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %2 = ge.Tanh(%1) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  %3 = ge.Exp(%1) : (tensor<64x5xf32>) -> tensor<64x5xf32>
  func.return %2, %3 : tensor<64x5xf32>, tensor<64x5xf32>
}

// Neither into a Concat whose parts will be made where they lie in it, nor such a Concat into its user; into one along another
// axis, which copies, both.
// CHECK-LABEL: func.func @joined(
// CHECK-NEXT:    %a = fused.generic "Relu"(%x)
// CHECK:         %b = fused.generic "Exp"(%x)
// CHECK:         %c = fused.generic "Concat"(%a, %b)
// CHECK:         %d = fused.generic "Tanh"(%c)
func.func @joined(%x: tensor<20x20xf32>) -> tensor<40x20xf32> {
  %a = ge.Relu(%x) : (tensor<20x20xf32>) -> tensor<20x20xf32>
  %b = ge.Exp(%x) : (tensor<20x20xf32>) -> tensor<20x20xf32>
  %c = ge.Concat(%a, %b) axis 0 : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<40x20xf32>
  %d = ge.Tanh(%c) : (tensor<40x20xf32>) -> tensor<40x20xf32>
  func.return %d : tensor<40x20xf32>
}

// CHECK-LABEL: func.func @copied(
// CHECK-NOT:     "Relu"
// CHECK:         %d = fused.generic "{{.*}}ConcatTanh"
func.func @copied(%x: tensor<20x20xf32>) -> tensor<20x40xf32> {
  %a = ge.Relu(%x) : (tensor<20x20xf32>) -> tensor<20x20xf32>
  %b = ge.Abs(%x) : (tensor<20x20xf32>) -> tensor<20x20xf32>
  %c = ge.Concat(%a, %b) axis 1 : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x40xf32>
  %d = ge.Tanh(%c) : (tensor<20x40xf32>) -> tensor<20x40xf32>
  func.return %d : tensor<20x40xf32>
}
