// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Quantisation is pointwise.

// A scalar scale and zero point are constants of the region; the quotient is clamped, then rounded, then shifted.
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT:      %0 = fused.generic "Quantize"(%x) : (tensor<4x8xf32>) -> tensor<4x8xui8> body(%d0: index, %d1: index, %t0: tensor<4x8xf32>) {
// CHECK-NEXT:        %1 = fused.load %t0[%d0, %d1] : tensor<4x8xf32>
// CHECK-NEXT:        %2 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:        %3 = arith.divf %1, %2 : f32
// CHECK-NEXT:        %4 = arith.constant -3.000000e+00 : f32
// CHECK-NEXT:        %5 = arith.cmpf ogt, %3, %4 : f32
// CHECK-NEXT:        %6 = arith.select %5, %3, %4 : f32
// CHECK-NEXT:        %7 = arith.constant 2.520000e+02 : f32
// CHECK-NEXT:        %8 = arith.cmpf olt, %6, %7 : f32
// CHECK-NEXT:        %9 = arith.select %8, %6, %7 : f32
// CHECK-NEXT:        %10 = math.roundeven %9 : f32
// CHECK-NEXT:        %11 = arith.fptosi %10 : f32 to i32
// CHECK-NEXT:        %12 = arith.constant 3 : i32
// CHECK-NEXT:        %13 = arith.addi %11, %12 : i32
// CHECK-NEXT:        %14 = arith.trunci %13 : i32 to i8
// CHECK-NEXT:        fused.yield %14 : i8
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return %0 : tensor<4x8xui8>
// CHECK-NEXT:    }
func.func @scalar(%x: tensor<4x8xf32>) -> tensor<4x8xui8> {
  %s = ge.Const dense<0.5> : tensor<f32>
  %z = ge.Const dense<3> : tensor<ui8>
  %0 = ge.Quantize(%x, %s, %z) : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  func.return %0 : tensor<4x8xui8>
}

// A quotient of f16 is rounded to f16; a scale of one divides nothing.
// CHECK-LABEL: func.func @halves(
// CHECK-NEXT:      %0 = fused.generic "Quantize"(%x, %s) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi8> body(%d0: index, %t0: tensor<4xf16>, %t1: tensor<4xf16>) {
// CHECK-NEXT:        %1 = fused.load %t0[%d0] : tensor<4xf16>
// CHECK-NEXT:        %2 = arith.extf %1 : f16 to f32
// CHECK-NEXT:        %3 = fused.load %t1[%d0] : tensor<4xf16>
// CHECK-NEXT:        %4 = arith.extf %3 : f16 to f32
// CHECK-NEXT:        %5 = arith.divf %2, %4 : f32
// CHECK-NEXT:        %6 = arith.truncf %5 : f32 to f16
// CHECK-NEXT:        %7 = arith.extf %6 : f16 to f32
// CHECK-NEXT:        %8 = arith.constant -1.280000e+02 : f32
// CHECK-NEXT:        %9 = arith.cmpf ogt, %7, %8 : f32
// CHECK-NEXT:        %10 = arith.select %9, %7, %8 : f32
// CHECK-NEXT:        %11 = arith.constant 1.270000e+02 : f32
// CHECK-NEXT:        %12 = arith.cmpf olt, %10, %11 : f32
// CHECK-NEXT:        %13 = arith.select %12, %10, %11 : f32
// CHECK-NEXT:        %14 = math.roundeven %13 : f32
// CHECK-NEXT:        %15 = arith.fptosi %14 : f32 to i32
// CHECK-NEXT:        %16 = arith.trunci %15 : i32 to i8
// CHECK-NEXT:        fused.yield %16 : i8
// CHECK-NEXT:      }
// CHECK-NEXT:      %1 = fused.generic "Quantize"(%y) : (tensor<4xf32>) -> tensor<4xi16> body(%d0: index, %t0: tensor<4xf32>) {
// CHECK-NEXT:        %2 = fused.load %t0[%d0] : tensor<4xf32>
// CHECK-NEXT:        %3 = arith.constant -3.276800e+04 : f32
// CHECK-NEXT:        %4 = arith.cmpf ogt, %2, %3 : f32
// CHECK-NEXT:        %5 = arith.select %4, %2, %3 : f32
// CHECK-NEXT:        %6 = arith.constant 3.276700e+04 : f32
// CHECK-NEXT:        %7 = arith.cmpf olt, %5, %6 : f32
// CHECK-NEXT:        %8 = arith.select %7, %5, %6 : f32
// CHECK-NEXT:        %9 = math.roundeven %8 : f32
// CHECK-NEXT:        %10 = arith.fptosi %9 : f32 to i32
// CHECK-NEXT:        %11 = arith.trunci %10 : i32 to i16
// CHECK-NEXT:        fused.yield %11 : i16
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return %0, %1 : tensor<4xi8>, tensor<4xi16>
// CHECK-NEXT:    }
func.func @halves(%x: tensor<4xf16>, %s: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi16>) {
  %one = ge.Const dense<1.0> : tensor<f32>
  %0 = ge.Quantize(%x, %s) axis 0 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi8>
  %1 = ge.Quantize(%y, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xi16>
  func.return %0, %1 : tensor<4xi8>, tensor<4xi16>
}

// The difference is exact in i32; blocks of 3 along the last dimension.
// CHECK-LABEL: func.func @blocks(
// CHECK-NEXT:      %0 = fused.generic "Dequantize"(%x, %s, %z) : (tensor<4x8xui8>, tensor<4x3xf32>, tensor<4x3xui8>) -> tensor<4x8xf32> body(%d0: index, %d1: index, %t0: tensor<4x8xui8>, %t1: tensor<4x3xf32>, %t2: tensor<4x3xui8>) {
// CHECK-NEXT:        %1 = fused.load %t0[%d0, %d1] : tensor<4x8xui8>
// CHECK-NEXT:        %2 = arith.extui %1 : i8 to i32
// CHECK-NEXT:        %3 = arith.constant 3 : index
// CHECK-NEXT:        %4 = arith.divui %d1, %3 : index
// CHECK-NEXT:        %5 = fused.load %t1[%d0, %4] : tensor<4x3xf32>
// CHECK-NEXT:        %6 = fused.load %t2[%d0, %4] : tensor<4x3xui8>
// CHECK-NEXT:        %7 = arith.extui %6 : i8 to i32
// CHECK-NEXT:        %8 = arith.subi %2, %7 : i32
// CHECK-NEXT:        %9 = arith.sitofp %8 : i32 to f32
// CHECK-NEXT:        %10 = arith.mulf %9, %5 : f32
// CHECK-NEXT:        fused.yield %10 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return %0 : tensor<4x8xf32>
// CHECK-NEXT:    }
func.func @blocks(%x: tensor<4x8xui8>, %s: tensor<4x3xf32>, %z: tensor<4x3xui8>) -> tensor<4x8xf32> {
  %0 = ge.Dequantize(%x, %s, %z) block_size 3 : (tensor<4x8xui8>, tensor<4x3xf32>, tensor<4x3xui8>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
