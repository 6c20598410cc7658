// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// A shift by the width or more is poison to the machine: it gives 0 instead.
// CHECK-LABEL: func.func @shift(
// CHECK:         %2 = fused.load %t1[%d0] : tensor<4xui8>
// CHECK-NEXT:    %3 = arith.constant 8 : i8
// CHECK-NEXT:    %4 = arith.cmpi ult, %2, %3 : i8
// CHECK-NEXT:    %5 = arith.constant 0 : i8
// CHECK-NEXT:    %6 = arith.select %4, %2, %5 : i8
// CHECK-NEXT:    %7 = arith.shrui %1, %6 : i8
// CHECK-NEXT:    %8 = arith.select %4, %7, %5 : i8
// CHECK-NEXT:    fused.yield %8 : i8
func.func @shift(%x: tensor<4xui8>, %n: tensor<4xui8>) -> tensor<4xui8> {
  %0 = ge.BitShift(%x, %n) direction RIGHT : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %0 : tensor<4xui8>
}

// CHECK-LABEL: func.func @flip(
// CHECK:         %2 = arith.constant -1 : i16
// CHECK-NEXT:    %3 = arith.xori %1, %2 : i16
func.func @flip(%x: tensor<4xi16>) -> tensor<4xi16> {
  %0 = ge.BitwiseNot(%x) : (tensor<4xi16>) -> tensor<4xi16>
  func.return %0 : tensor<4xi16>
}

// Signed and unsigned integers are the same scalars; floats are read anew.
// CHECK-LABEL: func.func @cast(
// CHECK:         fused.generic "BitCast"(%x) : (tensor<4xf32>) -> tensor<4xui32>
// CHECK:         arith.bitcast {{.*}} : f32 to i32
func.func @cast(%x: tensor<4xf32>) -> tensor<4xui32> {
  %0 = ge.BitCast(%x) : (tensor<4xf32>) -> tensor<4xui32>
  func.return %0 : tensor<4xui32>
}
