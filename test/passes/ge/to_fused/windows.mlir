// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Windows over three dimensions; places of largest elements.

// The frames of the result are images of a 2-D convolution whose channels hold the taps of the depth.
// CHECK-LABEL: func.func @conv3d(
// CHECK-NEXT:    %0 = fused.generic "Im2col"(%x) : (tensor<1x2x5x4x4xf32>) -> tensor<3x4x4x4xf32, #ge.layout<NHWC>> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x2x5x4x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 3 : index
// CHECK-NEXT:      %2 = arith.remui %d0, %1 : index
// CHECK-NEXT:      %3 = arith.divui %d0, %1 : index
// CHECK-NEXT:      %4 = arith.constant 2 : index
// CHECK-NEXT:      %5 = arith.remui %d1, %4 : index
// CHECK-NEXT:      %6 = arith.divui %d1, %4 : index
// CHECK-NEXT:      %7 = arith.muli %2, %4 : index
// CHECK-NEXT:      %8 = arith.constant 1 : index
// CHECK-NEXT:      %9 = arith.addi %7, %5 : index
// CHECK-NEXT:      %10 = arith.subi %9, %8 : index
// CHECK-NEXT:      %11 = arith.constant 0 : index
// CHECK-NEXT:      %12 = arith.cmpi sge, %10, %11 : index
// CHECK-NEXT:      %13 = arith.maxsi %10, %11 : index
// CHECK-NEXT:      %14 = arith.constant 4 : index
// CHECK-NEXT:      %15 = arith.minsi %13, %14 : index
// CHECK-NEXT:      %16 = fused.load %t0[%3, %6, %15, %d2, %d3] : tensor<1x2x5x4x4xf32>
// CHECK-NEXT:      %17 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %18 = arith.select %12, %16, %17 : f32
// CHECK-NEXT:      fused.yield %18 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.view %w : tensor<3x2x2x3x3xf32> -> tensor<3x4x3x3xf32>
// CHECK-NEXT:    %2 = fused.conv "Conv3D"(%0, %1, %b) {dilations = array<i64: 1, 1>, group = 1 : i64, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<3x4x4x4xf32, #ge.layout<NHWC>>, tensor<3x4x3x3xf32>, tensor<3xf32>) -> tensor<3x3x2x2xf32, #ge.layout<NHWC>> epilogue(%d0: index, %d1: index, %d2: index, %d3: index, %acc: f32, %t0: tensor<3x4x4x4xf32, #ge.layout<NHWC>>, %t1: tensor<3x4x3x3xf32>, %t2: tensor<3xf32>) {
// CHECK-NEXT:      %3 = fused.load %t2[%d1] : tensor<3xf32>
// CHECK-NEXT:      %4 = arith.addf %acc, %3 : f32
// CHECK-NEXT:      fused.yield %4 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %3 = fused.generic "Transpose"(%2) : (tensor<3x3x2x2xf32, #ge.layout<NHWC>>) -> tensor<1x3x3x2x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %t0: tensor<3x3x2x2xf32, #ge.layout<NHWC>>) {
// CHECK-NEXT:      %4 = arith.constant 3 : index
// CHECK-NEXT:      %5 = arith.muli %d0, %4 : index
// CHECK-NEXT:      %6 = arith.addi %5, %d2 : index
// CHECK-NEXT:      %7 = fused.load %t0[%6, %d1, %d3, %d4] : tensor<3x3x2x2xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      fused.yield %7 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %3 : tensor<1x3x3x2x2xf32>
// CHECK-NEXT:  }
func.func @conv3d(%x: tensor<1x2x5x4x4xf32>, %w: tensor<3x2x2x3x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x3x2x2xf32> {
  %0 = ge.Conv3D(%x, %w, %b) strides [2, 1, 1] pads [1, 0, 0, 0, 0, 0] : (tensor<1x2x5x4x4xf32>, tensor<3x2x2x3x3xf32>, tensor<3xf32>) -> tensor<1x3x3x2x2xf32>
  func.return %0 : tensor<1x3x3x2x2xf32>
}

// A sum instead of a mean.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %0 = fused.generic "AvgPool"(%x) {combiner = "add", reduction = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x4x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.muli %d2, %1 : index
// CHECK-NEXT:      %3 = arith.addi %2, %d4 : index
// CHECK-NEXT:      %4 = arith.muli %d3, %1 : index
// CHECK-NEXT:      %5 = arith.addi %4, %d5 : index
// CHECK-NEXT:      %6 = fused.load %t0[%d0, %d1, %3, %5] : tensor<1x2x4x4xf32>
// CHECK-NEXT:      fused.yield %6 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x2x4x4xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x2x2xf32>
// CHECK-NEXT:  }
func.func @sum(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %0 = ge.AvgPool(%x) kernel [2, 2] strides [2, 2] divisor 1 : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  func.return %0 : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @places(
// CHECK-NEXT:    %0 = fused.generic "MaxPool"(%x) {combiner = "max", reduction = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x4x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.muli %d2, %1 : index
// CHECK-NEXT:      %3 = arith.addi %2, %d4 : index
// CHECK-NEXT:      %4 = arith.muli %d3, %1 : index
// CHECK-NEXT:      %5 = arith.addi %4, %d5 : index
// CHECK-NEXT:      %6 = fused.load %t0[%d0, %d1, %3, %5] : tensor<1x2x4x4xf32>
// CHECK-NEXT:      fused.yield %6 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x2x4x4xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "MaxPoolWithArgmax"(%x, %0) {combiner = "min", reduction = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xi64> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x2x4x4xf32>, %t1: tensor<1x2x2x2xf32>) {
// CHECK-NEXT:      %2 = arith.constant 2 : index
// CHECK-NEXT:      %3 = arith.muli %d2, %2 : index
// CHECK-NEXT:      %4 = arith.addi %3, %d4 : index
// CHECK-NEXT:      %5 = arith.muli %d3, %2 : index
// CHECK-NEXT:      %6 = arith.addi %5, %d5 : index
// CHECK-NEXT:      %7 = fused.load %t0[%d0, %d1, %4, %6] : tensor<1x2x4x4xf32>
// CHECK-NEXT:      %8 = fused.load %t1[%d0, %d1, %d2, %d3] : tensor<1x2x2x2xf32>
// CHECK-NEXT:      %9 = arith.cmpf oeq, %7, %8 : f32
// CHECK-NEXT:      %10 = arith.cmpf uno, %7, %7 : f32
// CHECK-NEXT:      %11 = arith.ori %9, %10 : i1
// CHECK-NEXT:      %12 = arith.constant 4 : index
// CHECK-NEXT:      %13 = arith.muli %4, %12 : index
// CHECK-NEXT:      %14 = arith.addi %13, %6 : index
// CHECK-NEXT:      %15 = arith.index_cast %14 : index to i64
// CHECK-NEXT:      %16 = arith.constant 16 : i64
// CHECK-NEXT:      %17 = arith.select %11, %15, %16 : i64
// CHECK-NEXT:      fused.yield %17 : i64
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: i64, %t0_1: tensor<1x2x4x4xf32>, %t1_1: tensor<1x2x2x2xf32>) {
// CHECK-NEXT:      %18 = arith.index_cast %acc : i64 to index
// CHECK-NEXT:      %19 = arith.constant 15 : index
// CHECK-NEXT:      %20 = arith.minsi %18, %19 : index
// CHECK-NEXT:      %21 = arith.constant 4 : index
// CHECK-NEXT:      %22 = arith.divui %20, %21 : index
// CHECK-NEXT:      %23 = arith.remui %20, %21 : index
// CHECK-NEXT:      %24 = arith.muli %23, %21 : index
// CHECK-NEXT:      %25 = arith.addi %22, %24 : index
// CHECK-NEXT:      %26 = arith.constant 2 : index
// CHECK-NEXT:      %27 = arith.muli %d0_1, %26 : index
// CHECK-NEXT:      %28 = arith.addi %27, %d1_1 : index
// CHECK-NEXT:      %29 = arith.constant 16 : index
// CHECK-NEXT:      %30 = arith.muli %28, %29 : index
// CHECK-NEXT:      %31 = arith.addi %30, %25 : index
// CHECK-NEXT:      %32 = arith.index_cast %31 : index to i64
// CHECK-NEXT:      fused.yield %32 : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %1 : tensor<1x2x2x2xi64>
// CHECK-NEXT:  }
func.func @places(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xi64> {
  %0, %1 = ge.MaxPoolWithArgmax(%x) kernel [2, 2] strides [2, 2] column_major true : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>)
  func.return %1 : tensor<1x2x2x2xi64>
}
