// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Softmax and normalisations: scale and offset are in the epilogue.

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT:    %0 = fused.softmax "Softmax"(%x) {axis = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16> prologue(%d0: index, %d1: index, %t0: tensor<4x8xf16>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<4x8xf16>
// CHECK-NEXT:      %2 = arith.extf %1 : f16 to f32
// CHECK-NEXT:      fused.yield %2 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %acc: f32, %t0_1: tensor<4x8xf16>) {
// CHECK-NEXT:      %3 = arith.truncf %acc : f32 to f16
// CHECK-NEXT:      fused.yield %3 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x8xf16>
// CHECK-NEXT:  }
func.func @softmax(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = ge.Softmax(%x) axis -2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %0 : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @layernorm(
// CHECK-NEXT:    %0 = fused.norm "LayerNorm"(%x, %g, %b) {axis = 1 : i64, epsilon = 1.000000e-05 : f32, kind = "layer"} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32> prologue(%d0: index, %d1: index, %t0: tensor<4x8xf32>, %t1: tensor<8xf32>, %t2: tensor<8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<4x8xf32>
// CHECK-NEXT:      fused.yield %1 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %acc: f32, %t0_1: tensor<4x8xf32>, %t1_1: tensor<8xf32>, %t2_1: tensor<8xf32>) {
// CHECK-NEXT:      %2 = fused.load %t1_1[%d1_1] : tensor<8xf32>
// CHECK-NEXT:      %3 = arith.mulf %acc, %2 : f32
// CHECK-NEXT:      %4 = fused.load %t2_1[%d1_1] : tensor<8xf32>
// CHECK-NEXT:      %5 = arith.addf %3, %4 : f32
// CHECK-NEXT:      fused.yield %5 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x8xf32>
// CHECK-NEXT:  }
func.func @layernorm(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = ge.LayerNorm(%x, %g, %b) axis -1 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// Batch normalisation with parameters that are not constant: pointwise, by channel.
// CHECK-LABEL: func.func @batchnorm(
// CHECK-NEXT:    %0 = fused.generic "BatchNorm"(%x, %p, %p, %p, %v) : (tensor<1x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x5xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x3x4x5xf32>, %t1: tensor<3xf32>, %t2: tensor<3xf32>, %t3: tensor<3xf32>, %t4: tensor<3xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1, %d2, %d3] : tensor<1x3x4x5xf32>
// CHECK-NEXT:      %2 = fused.load %t1[%d1] : tensor<3xf32>
// CHECK-NEXT:      %3 = fused.load %t2[%d1] : tensor<3xf32>
// CHECK-NEXT:      %4 = fused.load %t3[%d1] : tensor<3xf32>
// CHECK-NEXT:      %5 = fused.load %t4[%d1] : tensor<3xf32>
// CHECK-NEXT:      %6 = arith.constant 1.000000e-05 : f32
// CHECK-NEXT:      %7 = arith.addf %5, %6 : f32
// CHECK-NEXT:      %8 = math.sqrt %7 : f32
// CHECK-NEXT:      %9 = arith.subf %1, %4 : f32
// CHECK-NEXT:      %10 = arith.divf %9, %8 : f32
// CHECK-NEXT:      %11 = arith.mulf %10, %2 : f32
// CHECK-NEXT:      %12 = arith.addf %11, %3 : f32
// CHECK-NEXT:      fused.yield %12 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x3x4x5xf32>
// CHECK-NEXT:  }
func.func @batchnorm(%x: tensor<1x3x4x5xf32>, %p: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<1x3x4x5xf32> {
  %0 = ge.BatchNorm(%x, %p, %p, %p, %v) : (tensor<1x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x5xf32>
  func.return %0 : tensor<1x3x4x5xf32>
}
