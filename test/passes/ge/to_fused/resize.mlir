// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// A cubic filter: places and weights of the taps are tables. The dimension that shrinks comes first.
// CHECK-LABEL: func.func @cubic(
// CHECK-NEXT:    %0 = fused.const dense<[[0, 0, 1, 2], [1, 2, 3, 3]]> : tensor<2x4xi64>
// CHECK-NEXT:    %1 = fused.const dense<[[-9.375000e-02, 5.937500e-01, 5.937500e-01, -9.375000e-02], [-9.375000e-02, 5.937500e-01, 5.937500e-01, -9.375000e-02]]> : tensor<2x4xf32>
// CHECK-NEXT:    %2 = fused.generic "Resize"(%x, %0, %1) {combiner = "add", reduction = array<i64: 4>} : (tensor<1x4x4xf16>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<1x4x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x4x4xf16>, %t1: tensor<2x4xi64>, %t2: tensor<2x4xf32>) {
// CHECK-NEXT:      %3 = fused.load %t1[%d2, %d3] : tensor<2x4xi64>
// CHECK-NEXT:      %4 = arith.index_cast %3 : i64 to index
// CHECK-NEXT:      %5 = fused.check_index %4, 4 : i64
// CHECK-NEXT:      %6 = fused.load %t0[%d0, %d1, %5] : tensor<1x4x4xf16>
// CHECK-NEXT:      %7 = arith.extf %6 : f16 to f32
// CHECK-NEXT:      %8 = fused.load %t2[%d2, %d3] : tensor<2x4xf32>
// CHECK-NEXT:      %9 = arith.mulf %7, %8 : f32
// CHECK-NEXT:      fused.yield %9 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: f32, %t0_1: tensor<1x4x4xf16>, %t1_1: tensor<2x4xi64>, %t2_1: tensor<2x4xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %3 = fused.const dense<[[0, 0, 0, 1], [0, 0, 1, 2], [0, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 3, 3], [1, 2, 3, 3], [2, 3, 3, 3]]> : tensor<8x4xi64>
// CHECK-NEXT:    %4 = fused.const dense<[[-0.03515625, 0.26171875, 0.87890625, -0.10546875], [-0.10546875, 0.87890625, 0.26171875, -0.03515625], [-0.03515625, 0.26171875, 0.87890625, -0.10546875], [-0.10546875, 0.87890625, 0.26171875, -0.03515625], [-0.03515625, 0.26171875, 0.87890625, -0.10546875], [-0.10546875, 0.87890625, 0.26171875, -0.03515625], [-0.03515625, 0.26171875, 0.87890625, -0.10546875], [-0.10546875, 0.87890625, 0.26171875, -0.03515625]]> : tensor<8x4xf32>
// CHECK-NEXT:    %5 = fused.generic "Resize"(%2, %3, %4) {combiner = "add", reduction = array<i64: 4>} : (tensor<1x4x2xf32>, tensor<8x4xi64>, tensor<8x4xf32>) -> tensor<1x8x2xf16> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x4x2xf32>, %t1: tensor<8x4xi64>, %t2: tensor<8x4xf32>) {
// CHECK-NEXT:      %6 = fused.load %t1[%d1, %d3] : tensor<8x4xi64>
// CHECK-NEXT:      %7 = arith.index_cast %6 : i64 to index
// CHECK-NEXT:      %8 = fused.check_index %7, 4 : i64
// CHECK-NEXT:      %9 = fused.load %t0[%d0, %8, %d2] : tensor<1x4x2xf32>
// CHECK-NEXT:      %10 = fused.load %t2[%d1, %d3] : tensor<8x4xf32>
// CHECK-NEXT:      %11 = arith.mulf %9, %10 : f32
// CHECK-NEXT:      fused.yield %11 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: f32, %t0_1: tensor<1x4x2xf32>, %t1_1: tensor<8x4xi64>, %t2_1: tensor<8x4xf32>) {
// CHECK-NEXT:      %12 = arith.truncf %acc : f32 to f16
// CHECK-NEXT:      fused.yield %12 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %5 : tensor<1x8x2xf16>
// CHECK-NEXT:  }
func.func @cubic(%x: tensor<1x4x4xf16>) -> tensor<1x8x2xf16> {
  %0 = ge.Resize(%x) mode cubic scales [1.0, 2.0, 0.5] : (tensor<1x4x4xf16>) -> tensor<1x8x2xf16>
  func.return %0 : tensor<1x8x2xf16>
}

// What lies outside x gets the extrapolation value.
// CHECK-LABEL: func.func @crop(
// CHECK-NEXT:    %0 = fused.const dense<[[1], [3], [3]]> : tensor<3x1xi64>
// CHECK-NEXT:    %1 = fused.const dense<[false, false, true]> : tensor<3xi1>
// CHECK-NEXT:    %2 = fused.generic "Resize"(%x, %0, %1) : (tensor<4xi32>, tensor<3x1xi64>, tensor<3xi1>) -> tensor<3xi32> body(%d0: index, %t0: tensor<4xi32>, %t1: tensor<3x1xi64>, %t2: tensor<3xi1>) {
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = fused.load %t1[%d0, %3] : tensor<3x1xi64>
// CHECK-NEXT:      %5 = arith.index_cast %4 : i64 to index
// CHECK-NEXT:      %6 = fused.check_index %5, 4 : i64
// CHECK-NEXT:      %7 = fused.load %t0[%6] : tensor<4xi32>
// CHECK-NEXT:      %8 = arith.constant 7 : i32
// CHECK-NEXT:      %9 = fused.load %t2[%d0] : tensor<3xi1>
// CHECK-NEXT:      %10 = arith.select %9, %8, %7 : i32
// CHECK-NEXT:      fused.yield %10 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %2 : tensor<3xi32>
// CHECK-NEXT:  }
func.func @crop(%x: tensor<4xi32>) -> tensor<3xi32> {
  %0 = ge.Resize(%x) coordinate_mode tf_crop_and_resize roi [0.5, 1.5] extrapolation_value 7.0 scales [0.75] : (tensor<4xi32>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}
