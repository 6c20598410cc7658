// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Reductions and pools: one generic whose reduction indices are the reduced dimensions or the window.

// CHECK-LABEL: func.func @mean(
// CHECK-NEXT:    %0 = fused.generic "ReduceMean"(%x) {combiner = "add", reduction = array<i64: 8, 6>} : (tensor<4x8x6xf32>) -> tensor<4x1x1xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %t0: tensor<4x8x6xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d3, %d4] : tensor<4x8x6xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: f32, %t0_1: tensor<4x8x6xf32>) {
// CHECK-NEXT:      %2 = arith.constant 0.020833334 : f32
// CHECK-NEXT:      %3 = arith.mulf %acc, %2 : f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x1x1xf32>
// CHECK-NEXT:  }
func.func @mean(%x: tensor<4x8x6xf32>) -> tensor<4x1x1xf32> {
  %0 = ge.ReduceMean(%x) axes [-1, 1] keep_dims true : (tensor<4x8x6xf32>) -> tensor<4x1x1xf32>
  func.return %0 : tensor<4x1x1xf32>
}

// Unsigned integers reduce with the sign bit flipped, booleans with or.
// CHECK-LABEL: func.func @max(
// CHECK-NEXT:    %0 = fused.generic "ReduceMax"(%x) {combiner = "max", reduction = array<i64: 8>} : (tensor<4x8xui8>) -> tensor<4xui8> body(%d0: index, %d1: index, %t0: tensor<4x8xui8>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<4x8xui8>
// CHECK-NEXT:      %2 = arith.constant -128 : i8
// CHECK-NEXT:      %3 = arith.xori %1, %2 : i8
// CHECK-NEXT:      fused.yield %3 : i8
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: i8, %t0_1: tensor<4x8xui8>) {
// CHECK-NEXT:      %4 = arith.constant -128 : i8
// CHECK-NEXT:      %5 = arith.xori %acc, %4 : i8
// CHECK-NEXT:      fused.yield %5 : i8
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "ReduceMax"(%m) {combiner = "or", reduction = array<i64: 4>} : (tensor<4x8xi1>) -> tensor<8xi1> body(%d0: index, %d1: index, %t0: tensor<4x8xi1>) {
// CHECK-NEXT:      %2 = fused.load %t0[%d1, %d0] : tensor<4x8xi1>
// CHECK-NEXT:      fused.yield %2 : i1
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: i1, %t0_1: tensor<4x8xi1>) {
// CHECK-NEXT:      fused.yield %acc : i1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %1 : tensor<4xui8>, tensor<8xi1>
// CHECK-NEXT:  }
func.func @max(%x: tensor<4x8xui8>, %m: tensor<4x8xi1>) -> (tensor<4xui8>, tensor<8xi1>) {
  %0 = ge.ReduceMax(%x) axes [1] : (tensor<4x8xui8>) -> tensor<4xui8>
  %1 = ge.ReduceMax(%m) axes [0] : (tensor<4x8xi1>) -> tensor<8xi1>
  func.return %0, %1 : tensor<4xui8>, tensor<8xi1>
}

// No axes, no reduction.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    %0 = fused.generic "ReduceSum"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%d0: index, %t0: tensor<4xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<4xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4xf32>
// CHECK-NEXT:  }
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.ReduceSum(%x) axes [] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-NEXT:    %0 = fused.generic "ReduceMax"(%x) {combiner = "max", reduction = array<i64: 8>} : (tensor<4x8xf32>) -> tensor<4xf32> body(%d0: index, %d1: index, %t0: tensor<4x8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<4x8xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: f32, %t0_1: tensor<4x8xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "ArgMax"(%x, %0) {combiner = "min", reduction = array<i64: 8>} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xi64> body(%d0: index, %d1: index, %t0: tensor<4x8xf32>, %t1: tensor<4xf32>) {
// CHECK-NEXT:      %2 = fused.load %t0[%d0, %d1] : tensor<4x8xf32>
// CHECK-NEXT:      %3 = fused.load %t1[%d0] : tensor<4xf32>
// CHECK-NEXT:      %4 = arith.cmpf oeq, %2, %3 : f32
// CHECK-NEXT:      %5 = arith.cmpf uno, %2, %2 : f32
// CHECK-NEXT:      %6 = arith.ori %4, %5 : i1
// CHECK-NEXT:      %7 = arith.index_cast %d1 : index to i64
// CHECK-NEXT:      %8 = arith.constant 8 : i64
// CHECK-NEXT:      %9 = arith.select %6, %7, %8 : i64
// CHECK-NEXT:      fused.yield %9 : i64
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: i64, %t0_1: tensor<4x8xf32>, %t1_1: tensor<4xf32>) {
// CHECK-NEXT:      fused.yield %acc : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %1 : tensor<4xi64>
// CHECK-NEXT:  }
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %0 = ge.ArgMax(%x) axis 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}

// A padded tap of a max pool repeats the edge.
// CHECK-LABEL: func.func @maxpool(
// CHECK-NEXT:    %0 = fused.generic "MaxPool"(%x) {combiner = "max", reduction = array<i64: 3, 2>} : (tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.muli %d2, %1 : index
// CHECK-NEXT:      %3 = arith.constant 1 : index
// CHECK-NEXT:      %4 = arith.addi %2, %d4 : index
// CHECK-NEXT:      %5 = arith.subi %4, %3 : index
// CHECK-NEXT:      %6 = arith.muli %d3, %1 : index
// CHECK-NEXT:      %7 = arith.addi %6, %d5 : index
// CHECK-NEXT:      %8 = arith.constant 0 : index
// CHECK-NEXT:      %9 = arith.maxsi %5, %8 : index
// CHECK-NEXT:      %10 = arith.constant 8 : index
// CHECK-NEXT:      %11 = arith.minsi %9, %10 : index
// CHECK-NEXT:      %12 = fused.load %t0[%d0, %d1, %11, %7] : tensor<1x2x9x8xf32>
// CHECK-NEXT:      fused.yield %12 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x5x4xf32>
// CHECK-NEXT:  }
func.func @maxpool(%x: tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32> {
  %0 = ge.MaxPool(%x) kernel [3, 2] strides [2, 2] pads [1, 0, 1, 0] : (tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32>
  func.return %0 : tensor<1x2x5x4xf32>
}

// A padded tap of an average counts neither in the sum nor in the divisor.
// CHECK-LABEL: func.func @avgpool(
// CHECK-NEXT:    %0 = fused.generic "AvgPool"(%x) {combiner = "add", reduction = array<i64: 3, 2>} : (tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.muli %d2, %1 : index
// CHECK-NEXT:      %3 = arith.constant 1 : index
// CHECK-NEXT:      %4 = arith.addi %2, %d4 : index
// CHECK-NEXT:      %5 = arith.subi %4, %3 : index
// CHECK-NEXT:      %6 = arith.muli %d3, %1 : index
// CHECK-NEXT:      %7 = arith.addi %6, %d5 : index
// CHECK-NEXT:      %8 = arith.constant 0 : index
// CHECK-NEXT:      %9 = arith.maxsi %5, %8 : index
// CHECK-NEXT:      %10 = arith.constant 8 : index
// CHECK-NEXT:      %11 = arith.minsi %9, %10 : index
// CHECK-NEXT:      %12 = arith.cmpi sge, %5, %8 : index
// CHECK-NEXT:      %13 = arith.constant 9 : index
// CHECK-NEXT:      %14 = arith.cmpi slt, %5, %13 : index
// CHECK-NEXT:      %15 = arith.andi %12, %14 : i1
// CHECK-NEXT:      %16 = fused.load %t0[%d0, %d1, %11, %7] : tensor<1x2x9x8xf32>
// CHECK-NEXT:      %17 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %18 = arith.select %15, %16, %17 : f32
// CHECK-NEXT:      fused.yield %18 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      %19 = arith.constant 1 : index
// CHECK-NEXT:      %20 = arith.constant 2 : index
// CHECK-NEXT:      %21 = arith.muli %d2_1, %20 : index
// CHECK-NEXT:      %22 = arith.subi %21, %19 : index
// CHECK-NEXT:      %23 = arith.constant 0 : index
// CHECK-NEXT:      %24 = arith.constant 3 : index
// CHECK-NEXT:      %25 = arith.subi %23, %22 : index
// CHECK-NEXT:      %26 = arith.maxsi %25, %23 : index
// CHECK-NEXT:      %27 = arith.constant 9 : index
// CHECK-NEXT:      %28 = arith.subi %27, %22 : index
// CHECK-NEXT:      %29 = arith.minsi %28, %24 : index
// CHECK-NEXT:      %30 = arith.subi %29, %26 : index
// CHECK-NEXT:      %31 = arith.muli %30, %20 : index
// CHECK-NEXT:      %32 = arith.index_cast %31 : index to i64
// CHECK-NEXT:      %33 = arith.sitofp %32 : i64 to f32
// CHECK-NEXT:      %34 = arith.divf %acc, %33 : f32
// CHECK-NEXT:      fused.yield %34 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x5x4xf32>
// CHECK-NEXT:  }
func.func @avgpool(%x: tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32> {
  %0 = ge.AvgPool(%x) kernel [3, 2] strides [2, 2] pads [1, 0, 1, 0] : (tensor<1x2x9x8xf32>) -> tensor<1x2x5x4xf32>
  func.return %0 : tensor<1x2x5x4xf32>
}

// Without padding the divisor is a constant.
// CHECK-LABEL: func.func @global(
// CHECK-NEXT:    %0 = fused.generic "GlobalAveragePool"(%x) {combiner = "add", reduction = array<i64: 9, 8>} : (tensor<1x2x9x8xf32>) -> tensor<1x2x1x1xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1, %d4, %d5] : tensor<1x2x9x8xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x2x9x8xf32>) {
// CHECK-NEXT:      %2 = arith.constant 0.013888889 : f32
// CHECK-NEXT:      %3 = arith.mulf %acc, %2 : f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x1x1xf32>
// CHECK-NEXT:  }
func.func @global(%x: tensor<1x2x9x8xf32>) -> tensor<1x2x1x1xf32> {
  %0 = ge.GlobalAveragePool(%x) : (tensor<1x2x9x8xf32>) -> tensor<1x2x1x1xf32>
  func.return %0 : tensor<1x2x1x1xf32>
}
