// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Operators that move elements: views where no byte moves, else index maps.

// CHECK-LABEL: func.func @views(
// CHECK-NEXT:    %0 = fused.view %x : tensor<2x1x6xf32> -> tensor<12xf32>
// CHECK-NEXT:    %1 = fused.view %x : tensor<2x1x6xf32> -> tensor<1x2x6xf32>
// CHECK-NEXT:    %2 = fused.view %y : tensor<1x6x1x1xf32> -> tensor<1x6x1x1xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    func.return %0, %1, %2 : tensor<12xf32>, tensor<1x2x6xf32>, tensor<1x6x1x1xf32, #ge.layout<NHWC>>
// CHECK-NEXT:  }
func.func @views(%x: tensor<2x1x6xf32>, %y: tensor<1x6x1x1xf32>) -> (tensor<12xf32>, tensor<1x2x6xf32>, tensor<1x6x1x1xf32, #ge.layout<NHWC>>) {
  %0 = ge.Reshape(%x) : (tensor<2x1x6xf32>) -> tensor<12xf32>
  %1 = ge.Transpose(%x) perm [1, 0, 2] : (tensor<2x1x6xf32>) -> tensor<1x2x6xf32>
  %2 = ge.TransData(%y) : (tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32, #ge.layout<NHWC>>
  func.return %0, %1, %2 : tensor<12xf32>, tensor<1x2x6xf32>, tensor<1x6x1x1xf32, #ge.layout<NHWC>>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT:    %0 = fused.generic "Transpose"(%x) : (tensor<2x3x6xf32>) -> tensor<3x6x2xf32> body(%d0: index, %d1: index, %d2: index, %t0: tensor<2x3x6xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d2, %d0, %d1] : tensor<2x3x6xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<3x6x2xf32>
// CHECK-NEXT:  }
func.func @transpose(%x: tensor<2x3x6xf32>) -> tensor<3x6x2xf32> {
  %0 = ge.Transpose(%x) perm [1, 2, 0] : (tensor<2x3x6xf32>) -> tensor<3x6x2xf32>
  func.return %0 : tensor<3x6x2xf32>
}

// An empty operand is dropped; each other one is clamped into its own range.
// CHECK-LABEL: func.func @concat(
// CHECK-NEXT:    %0 = fused.generic "Concat"(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32> body(%d0: index, %d1: index, %t0: tensor<2x3xf32>, %t1: tensor<2x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 3 : index
// CHECK-NEXT:      %2 = arith.subi %d1, %1 : index
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = arith.maxsi %2, %3 : index
// CHECK-NEXT:      %5 = fused.load %t1[%d0, %4] : tensor<2x4xf32>
// CHECK-NEXT:      %6 = arith.constant 2 : index
// CHECK-NEXT:      %7 = arith.minsi %d1, %6 : index
// CHECK-NEXT:      %8 = fused.load %t0[%d0, %7] : tensor<2x3xf32>
// CHECK-NEXT:      %9 = arith.cmpi slt, %d1, %1 : index
// CHECK-NEXT:      %10 = arith.select %9, %8, %5 : f32
// CHECK-NEXT:      fused.yield %10 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<2x7xf32>
// CHECK-NEXT:  }
func.func @concat(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>, %y: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %0 = ge.Concat(%x, %e, %y) axis 1 : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  func.return %0 : tensor<2x7xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT:    %0 = fused.generic "Slice"(%x) : (tensor<2x9xf32>) -> tensor<2x3xf32> body(%d0: index, %d1: index, %t0: tensor<2x9xf32>) {
// CHECK-NEXT:      %1 = arith.constant -3 : index
// CHECK-NEXT:      %2 = arith.muli %d1, %1 : index
// CHECK-NEXT:      %3 = arith.constant 7 : index
// CHECK-NEXT:      %4 = arith.addi %2, %3 : index
// CHECK-NEXT:      %5 = fused.load %t0[%d0, %4] : tensor<2x9xf32>
// CHECK-NEXT:      fused.yield %5 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }
func.func @slice(%x: tensor<2x9xf32>) -> tensor<2x3xf32> {
  %0 = ge.Slice(%x) starts [-2] ends [-9] axes [1] steps [-3] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT:    %0 = fused.generic "Pad"(%x, %v) : (tensor<2x9xf32>, tensor<f32>) -> tensor<3x8xf32> body(%d0: index, %d1: index, %t0: tensor<2x9xf32>, %t1: tensor<f32>) {
// CHECK-NEXT:      %1 = arith.constant 1 : index
// CHECK-NEXT:      %2 = arith.subi %d0, %1 : index
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = arith.cmpi sge, %2, %3 : index
// CHECK-NEXT:      %5 = arith.maxsi %2, %3 : index
// CHECK-NEXT:      %6 = fused.load %t1[] : tensor<f32>
// CHECK-NEXT:      %7 = fused.load %t0[%5, %d1] : tensor<2x9xf32>
// CHECK-NEXT:      %8 = arith.select %4, %7, %6 : f32
// CHECK-NEXT:      fused.yield %8 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "Pad"(%x) : (tensor<2x9xf32>) -> tensor<2x13xf32> body(%d0: index, %d1: index, %t0: tensor<2x9xf32>) {
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.constant 2 : index
// CHECK-NEXT:      %4 = arith.subi %d1, %3 : index
// CHECK-NEXT:      %5 = arith.constant 9 : index
// CHECK-NEXT:      %6 = arith.subi %2, %4 : index
// CHECK-NEXT:      %7 = arith.cmpi slt, %4, %2 : index
// CHECK-NEXT:      %8 = arith.select %7, %6, %4 : index
// CHECK-NEXT:      %9 = arith.constant 16 : index
// CHECK-NEXT:      %10 = arith.subi %9, %8 : index
// CHECK-NEXT:      %11 = arith.cmpi sge, %8, %5 : index
// CHECK-NEXT:      %12 = arith.select %11, %10, %8 : index
// CHECK-NEXT:      %13 = fused.load %t0[%d0, %12] : tensor<2x9xf32>
// CHECK-NEXT:      fused.yield %13 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %1 : tensor<3x8xf32>, tensor<2x13xf32>
// CHECK-NEXT:  }
func.func @pad(%x: tensor<2x9xf32>, %v: tensor<f32>) -> (tensor<3x8xf32>, tensor<2x13xf32>) {
  %0 = ge.Pad(%x, %v) pads [1, 0, 0, -1] : (tensor<2x9xf32>, tensor<f32>) -> tensor<3x8xf32>
  %1 = ge.Pad(%x) pads [0, 2, 0, 2] mode reflect : (tensor<2x9xf32>) -> tensor<2x13xf32>
  func.return %0, %1 : tensor<3x8xf32>, tensor<2x13xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK-NEXT:    %0 = fused.generic "Split"(%x) : (tensor<2x9xf32>) -> tensor<2x4xf32> body(%d0: index, %d1: index, %t0: tensor<2x9xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<2x9xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "Split"(%x) : (tensor<2x9xf32>) -> tensor<2x5xf32> body(%d0: index, %d1: index, %t0: tensor<2x9xf32>) {
// CHECK-NEXT:      %2 = arith.constant 4 : index
// CHECK-NEXT:      %3 = arith.addi %d1, %2 : index
// CHECK-NEXT:      %4 = fused.load %t0[%d0, %3] : tensor<2x9xf32>
// CHECK-NEXT:      fused.yield %4 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %1 : tensor<2x4xf32>, tensor<2x5xf32>
// CHECK-NEXT:  }
func.func @split(%x: tensor<2x9xf32>) -> (tensor<2x4xf32>, tensor<2x5xf32>) {
  %0, %1 = ge.Split(%x) axis 1 sizes [4, 5] : (tensor<2x9xf32>) -> (tensor<2x4xf32>, tensor<2x5xf32>)
  func.return %0, %1 : tensor<2x4xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: func.func @const(
// CHECK-NEXT:    %0 = fused.const dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    func.return %0 : tensor<3xf32>
// CHECK-NEXT:  }
func.func @const() -> tensor<3xf32> {
  %0 = ge.Const dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// Dimensions of extent 1 are read at 0, new ones not at all; where the result has extent 1 too, the index stays.
// CHECK-LABEL: func.func @expand(
// CHECK-NEXT:    %0 = fused.generic "Expand"(%x) : (tensor<1x3x1xf32>) -> tensor<2x1x3x4xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x3x1xf32>) {
// CHECK-NEXT:      %1 = arith.constant 0 : index
// CHECK-NEXT:      %2 = fused.load %t0[%d1, %d2, %1] : tensor<1x3x1xf32>
// CHECK-NEXT:      fused.yield %2 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<2x1x3x4xf32>
// CHECK-NEXT:  }
func.func @expand(%x: tensor<1x3x1xf32>) -> tensor<2x1x3x4xf32> {
  %0 = ge.Expand(%x) : (tensor<1x3x1xf32>) -> tensor<2x1x3x4xf32>
  func.return %0 : tensor<2x1x3x4xf32>
}

// A repetition is a dimension of its own, along which a load broadcasts.
// CHECK-LABEL: func.func @tile(
// CHECK-NEXT:    %0 = fused.view %x : tensor<2x1x3xf32> -> tensor<1x2x1x1x1x3xf32>
// CHECK-NEXT:    %1 = fused.generic "Tile"(%0) : (tensor<1x2x1x1x1x3xf32>) -> tensor<1x2x4x1x3x3xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x1x1x1x3xf32>) {
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = fused.load %t0[%d0, %d1, %2, %d3, %2, %d5] : tensor<1x2x1x1x1x3xf32>
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = fused.view %1 : tensor<1x2x4x1x3x3xf32> -> tensor<2x4x9xf32>
// CHECK-NEXT:    func.return %2 : tensor<2x4x9xf32>
// CHECK-NEXT:  }
func.func @tile(%x: tensor<2x1x3xf32>) -> tensor<2x4x9xf32> {
  %0 = ge.Tile(%x) repeats [1, 4, 3] : (tensor<2x1x3xf32>) -> tensor<2x4x9xf32>
  func.return %0 : tensor<2x4x9xf32>
}

// Channels that lie last are repeated there.
// CHECK-LABEL: func.func @tile_channels_last(
// CHECK-NEXT:    %0 = fused.view %x : tensor<1x3x2x2xf32, #ge.layout<NHWC>> -> tensor<1x1x1x2x1x2x1x3xf32>
// CHECK-NEXT:    %1 = fused.generic "Tile"(%0) : (tensor<1x1x1x2x1x2x1x3xf32>) -> tensor<1x1x1x2x2x2x4x3xf32> body(
// CHECK-NOT:       arith.remui
// CHECK:         %2 = fused.view %1 : tensor<1x1x1x2x2x2x4x3xf32> -> tensor<1x12x2x4xf32, #ge.layout<NHWC>>
func.func @tile_channels_last(%x: tensor<1x3x2x2xf32, #ge.layout<NHWC>>) -> tensor<1x12x2x4xf32, #ge.layout<NHWC>> {
  %0 = ge.Tile(%x) repeats [1, 4, 1, 2] : (tensor<1x3x2x2xf32, #ge.layout<NHWC>>) -> tensor<1x12x2x4xf32, #ge.layout<NHWC>>
  func.return %0 : tensor<1x12x2x4xf32, #ge.layout<NHWC>>
}
