// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Matrix products and convolutions: the bias is in the epilogue.

// CHECK-LABEL: func.func @bias(
// CHECK-NEXT:    %0 = fused.matmul "MatMulV2"(%a, %b, %c) {transpose_b} : (tensor<2x4x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x4x3xf32> epilogue(%d0: index, %d1: index, %d2: index, %acc: f32, %t0: tensor<2x4x8xf32>, %t1: tensor<3x8xf32>, %t2: tensor<3xf32>) {
// CHECK-NEXT:      %1 = fused.load %t2[%d2] : tensor<3xf32>
// CHECK-NEXT:      %2 = arith.addf %acc, %1 : f32
// CHECK-NEXT:      fused.yield %2 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<2x4x3xf32>
// CHECK-NEXT:  }
func.func @bias(%a: tensor<2x4x8xf32>, %b: tensor<3x8xf32>, %c: tensor<3xf32>) -> tensor<2x4x3xf32> {
  %0 = ge.MatMulV2(%a, %b, %c) transpose_x2 true : (tensor<2x4x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  func.return %0 : tensor<2x4x3xf32>
}

// A transposed left side is an operation of its own, a view when one of the dimensions is 1.
// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT:    %0 = fused.generic "Transpose"(%a) : (tensor<8x4xf16>) -> tensor<4x8xf16> body(%d0: index, %d1: index, %t0: tensor<8x4xf16>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d1, %d0] : tensor<8x4xf16>
// CHECK-NEXT:      fused.yield %1 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.matmul "MatMulV2"(%0, %b) : (tensor<4x8xf16>, tensor<8x3xf16>) -> tensor<4x3xf16> epilogue(%d0: index, %d1: index, %acc: f32, %t0: tensor<4x8xf16>, %t1: tensor<8x3xf16>) {
// CHECK-NEXT:      %2 = arith.truncf %acc : f32 to f16
// CHECK-NEXT:      fused.yield %2 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = fused.view %r : tensor<8x1xf16> -> tensor<1x8xf16>
// CHECK-NEXT:    %3 = fused.matmul "MatMulV2"(%2, %b) : (tensor<1x8xf16>, tensor<8x3xf16>) -> tensor<1x3xf16> epilogue(%d0: index, %d1: index, %acc: f32, %t0: tensor<1x8xf16>, %t1: tensor<8x3xf16>) {
// CHECK-NEXT:      %4 = arith.truncf %acc : f32 to f16
// CHECK-NEXT:      fused.yield %4 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %1, %3 : tensor<4x3xf16>, tensor<1x3xf16>
// CHECK-NEXT:  }
func.func @transposed(%a: tensor<8x4xf16>, %r: tensor<8x1xf16>, %b: tensor<8x3xf16>) -> (tensor<4x3xf16>, tensor<1x3xf16>) {
  %0 = ge.MatMulV2(%a, %b) transpose_x1 true : (tensor<8x4xf16>, tensor<8x3xf16>) -> tensor<4x3xf16>
  %1 = ge.MatMulV2(%r, %b) transpose_x1 true : (tensor<8x1xf16>, tensor<8x3xf16>) -> tensor<1x3xf16>
  func.return %0, %1 : tensor<4x3xf16>, tensor<1x3xf16>
}

// CHECK-LABEL: func.func @conv(
// CHECK-NEXT:    %0 = fused.conv "Conv2D"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 2 : i64, kernel = array<i64: 3, 3>, pads = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x9x8xf32, #ge.layout<NHWC>>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x8xf32, #ge.layout<NHWC>> epilogue(%d0: index, %d1: index, %d2: index, %d3: index, %acc: f32, %t0: tensor<1x4x9x8xf32, #ge.layout<NHWC>>, %t1: tensor<6x2x3x3xf32>, %t2: tensor<6xf32>) {
// CHECK-NEXT:      %1 = fused.load %t2[%d1] : tensor<6xf32>
// CHECK-NEXT:      %2 = arith.addf %acc, %1 : f32
// CHECK-NEXT:      fused.yield %2 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x6x4x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:  }
func.func @conv(%x: tensor<1x4x9x8xf32, #ge.layout<NHWC>>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) -> tensor<1x6x4x8xf32, #ge.layout<NHWC>> {
  %0 = ge.Conv2D(%x, %w, %b) strides [2, 1] pads [0, 1, 0, 1] group 2 : (tensor<1x4x9x8xf32, #ge.layout<NHWC>>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x8xf32, #ge.layout<NHWC>>
  func.return %0 : tensor<1x6x4x8xf32, #ge.layout<NHWC>>
}

// Out of NHWC the pixels need no transposition; with kernel = stride each output pixel has one tap.
// CHECK-LABEL: func.func @deconv(
// CHECK-NEXT:    %0 = fused.view %x : tensor<1x3x4x5xf32, #ge.layout<NHWC>> -> tensor<1x4x5x3xf32>
// CHECK-NEXT:    %1 = fused.view %0 : tensor<1x4x5x3xf32> -> tensor<20x3xf32>
// CHECK-NEXT:    %2 = fused.view %w : tensor<3x6x3x2xf32> -> tensor<3x36xf32>
// CHECK-NEXT:    %3 = fused.matmul "MatMulV2"(%1, %2) : (tensor<20x3xf32>, tensor<3x36xf32>) -> tensor<20x36xf32> epilogue(%d0: index, %d1: index, %acc: f32, %t0: tensor<20x3xf32>, %t1: tensor<3x36xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %4 = fused.view %3 : tensor<20x36xf32> -> tensor<1x1x4x5x6x3x2xf32>
// CHECK-NEXT:    %5 = fused.generic "ConvTranspose2D"(%4) {combiner = "add", reduction = array<i64: 2, 1>} : (tensor<1x1x4x5x6x3x2xf32>) -> tensor<1x6x9x10xf32, #ge.layout<NHWC>> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %t0: tensor<1x1x4x5x6x3x2xf32>) {
// CHECK-NEXT:      %6 = arith.constant 0 : index
// CHECK-NEXT:      %7 = arith.constant 2 : index
// CHECK-NEXT:      %8 = arith.remui %d2, %7 : index
// CHECK-NEXT:      %9 = arith.muli %d4, %7 : index
// CHECK-NEXT:      %10 = arith.addi %8, %9 : index
// CHECK-NEXT:      %11 = arith.divui %d2, %7 : index
// CHECK-NEXT:      %12 = arith.subi %11, %d4 : index
// CHECK-NEXT:      %13 = arith.constant 3 : index
// CHECK-NEXT:      %14 = arith.cmpi slt, %10, %13 : index
// CHECK-NEXT:      %15 = arith.minsi %10, %7 : index
// CHECK-NEXT:      %16 = arith.cmpi sge, %12, %6 : index
// CHECK-NEXT:      %17 = arith.andi %14, %16 : i1
// CHECK-NEXT:      %18 = arith.constant 4 : index
// CHECK-NEXT:      %19 = arith.cmpi slt, %12, %18 : index
// CHECK-NEXT:      %20 = arith.andi %17, %19 : i1
// CHECK-NEXT:      %21 = arith.maxsi %12, %6 : index
// CHECK-NEXT:      %22 = arith.minsi %21, %13 : index
// CHECK-NEXT:      %23 = arith.remui %d3, %7 : index
// CHECK-NEXT:      %24 = arith.muli %d5, %7 : index
// CHECK-NEXT:      %25 = arith.addi %23, %24 : index
// CHECK-NEXT:      %26 = arith.divui %d3, %7 : index
// CHECK-NEXT:      %27 = arith.subi %26, %d5 : index
// CHECK-NEXT:      %28 = arith.cmpi sge, %27, %6 : index
// CHECK-NEXT:      %29 = arith.constant 5 : index
// CHECK-NEXT:      %30 = arith.cmpi slt, %27, %29 : index
// CHECK-NEXT:      %31 = arith.andi %28, %30 : i1
// CHECK-NEXT:      %32 = arith.maxsi %27, %6 : index
// CHECK-NEXT:      %33 = arith.minsi %32, %18 : index
// CHECK-NEXT:      %34 = arith.andi %20, %31 : i1
// CHECK-NEXT:      %35 = fused.load %t0[%6, %d0, %22, %33, %d1, %15, %25] : tensor<1x1x4x5x6x3x2xf32>
// CHECK-NEXT:      %36 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %37 = arith.select %34, %35, %36 : f32
// CHECK-NEXT:      fused.yield %37 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %d3_1: index, %acc: f32, %t0_1: tensor<1x1x4x5x6x3x2xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %5 : tensor<1x6x9x10xf32, #ge.layout<NHWC>>
// CHECK-NEXT:  }
func.func @deconv(%x: tensor<1x3x4x5xf32, #ge.layout<NHWC>>, %w: tensor<3x6x3x2xf32>) -> tensor<1x6x9x10xf32, #ge.layout<NHWC>> {
  %0 = ge.ConvTranspose2D(%x, %w) strides [2, 2] : (tensor<1x3x4x5xf32, #ge.layout<NHWC>>, tensor<3x6x3x2xf32>) -> tensor<1x6x9x10xf32, #ge.layout<NHWC>>
  func.return %0 : tensor<1x6x9x10xf32, #ge.layout<NHWC>>
}

// Where the taps of two pixels never meet, the product's elements are put in their places: each spatial dimension is two.
// CHECK-LABEL: func.func @apart(
// CHECK-NEXT:    %0 = fused.generic "Transpose"(%x) : (tensor<2x4x4x5xf32, #ge.layout<NHWC>>) -> tensor<2x2x4x5x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %t0: tensor<2x4x4x5xf32, #ge.layout<NHWC>>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.muli %d0, %1 : index
// CHECK-NEXT:      %3 = arith.addi %2, %d4 : index
// CHECK-NEXT:      %4 = fused.load %t0[%d1, %3, %d2, %d3] : tensor<2x4x4x5xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      fused.yield %4 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.view %0 : tensor<2x2x4x5x2xf32> -> tensor<2x40x2xf32>
// CHECK-NEXT:    %2 = fused.view %w : tensor<4x3x2x3xf32> -> tensor<2x2x18xf32>
// CHECK-NEXT:    %3 = fused.matmul "MatMulV2"(%1, %2) : (tensor<2x40x2xf32>, tensor<2x2x18xf32>) -> tensor<2x40x18xf32> epilogue(%d0: index, %d1: index, %d2: index, %acc: f32, %t0: tensor<2x40x2xf32>, %t1: tensor<2x2x18xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %4 = fused.view %3 : tensor<2x40x18xf32> -> tensor<2x2x4x5x3x2x3xf32>
// CHECK-NEXT:    %5 = fused.generic "ConvTranspose2D"(%4, %b) : (tensor<2x2x4x5x3x2x3xf32>, tensor<6xf32>) -> tensor<2x4x2x5x3x2x3xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %d4: index, %d5: index, %d6: index, %t0: tensor<2x2x4x5x3x2x3xf32>, %t1: tensor<6xf32>) {
// CHECK-NEXT:      %6 = fused.load %t0[%d5, %d0, %d1, %d3, %d6, %d2, %d4] : tensor<2x2x4x5x3x2x3xf32>
// CHECK-NEXT:      %7 = arith.constant 3 : index
// CHECK-NEXT:      %8 = arith.muli %d5, %7 : index
// CHECK-NEXT:      %9 = arith.addi %8, %d6 : index
// CHECK-NEXT:      %10 = fused.load %t1[%9] : tensor<6xf32>
// CHECK-NEXT:      %11 = arith.addf %6, %10 : f32
// CHECK-NEXT:      fused.yield %11 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %6 = fused.view %5 : tensor<2x4x2x5x3x2x3xf32> -> tensor<2x6x8x15xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    func.return %6 : tensor<2x6x8x15xf32, #ge.layout<NHWC>>
// CHECK-NEXT:  }
func.func @apart(%x: tensor<2x4x4x5xf32, #ge.layout<NHWC>>, %w: tensor<4x3x2x3xf32>, %b: tensor<6xf32>) -> tensor<2x6x8x15xf32, #ge.layout<NHWC>> {
  %0 = ge.ConvTranspose2D(%x, %w, %b) strides [2, 3] group 2 : (tensor<2x4x4x5xf32, #ge.layout<NHWC>>, tensor<4x3x2x3xf32>, tensor<6xf32>) -> tensor<2x6x8x15xf32, #ge.layout<NHWC>>
  func.return %0 : tensor<2x6x8x15xf32, #ge.layout<NHWC>>
}
