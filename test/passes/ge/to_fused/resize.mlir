// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// A cubic filter: places and weights of the taps are tables. The dimension that shrinks comes first.
// CHECK-LABEL: func.func @cubic(
// CHECK-NEXT:    %0 = fused.const dense<[[0, 1], [0, 2], [1, 3], [2, 3]]> : tensor<4x2xi64>
// CHECK-NEXT:    %1 = fused.const dense<[[-9.375000e-02, -9.375000e-02], [5.937500e-01, 5.937500e-01], [5.937500e-01, 5.937500e-01], [-9.375000e-02, -9.375000e-02]]> : tensor<4x2xf32>
// CHECK-NEXT:    %2 = fused.generic "Resize"(%x, %0, %1) {combiner = "add", reduction = array<i64: 4>} : (tensor<1x4x4xf16>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<1x4x2xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x4x4xf16>, %t1: tensor<4x2xi64>, %t2: tensor<4x2xf32>) {
// CHECK-NEXT:      %3 = fused.load %t1[%d3, %d2] : tensor<4x2xi64>
// CHECK-NEXT:      %4 = arith.index_cast %3 : i64 to index
// CHECK-NEXT:      %5 = arith.constant 0 : index
// CHECK-NEXT:      %6 = arith.maxsi %4, %5 : index
// CHECK-NEXT:      %7 = arith.constant 3 : index
// CHECK-NEXT:      %8 = arith.minsi %6, %7 : index
// CHECK-NEXT:      %9 = fused.load %t0[%d0, %d1, %8] : tensor<1x4x4xf16>
// CHECK-NEXT:      %10 = arith.extf %9 : f16 to f32
// CHECK-NEXT:      %11 = fused.load %t2[%d3, %d2] : tensor<4x2xf32>
// CHECK-NEXT:      %12 = arith.mulf %10, %11 : f32
// CHECK-NEXT:      fused.yield %12 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: f32, %t0_1: tensor<1x4x4xf16>, %t1_1: tensor<4x2xi64>, %t2_1: tensor<4x2xf32>) {
// CHECK-NEXT:      fused.yield %acc : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %3 = fused.const dense<[[0, 0, 0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 2, 3, 3, 3], [1, 2, 2, 3, 3, 3, 3, 3]]> : tensor<4x8xi64>
// CHECK-NEXT:    %4 = fused.const dense<[[-0.03515625, -0.10546875, -0.03515625, -0.10546875, -0.03515625, -0.10546875, -0.03515625, -0.10546875], [0.26171875, 0.87890625, 0.26171875, 0.87890625, 0.26171875, 0.87890625, 0.26171875, 0.87890625], [0.87890625, 0.26171875, 0.87890625, 0.26171875, 0.87890625, 0.26171875, 0.87890625, 0.26171875], [-0.10546875, -0.03515625, -0.10546875, -0.03515625, -0.10546875, -0.03515625, -0.10546875, -0.03515625]]> : tensor<4x8xf32>
// CHECK-NEXT:    %5 = fused.generic "Resize"(%2, %3, %4) {combiner = "add", reduction = array<i64: 4>} : (tensor<1x4x2xf32>, tensor<4x8xi64>, tensor<4x8xf32>) -> tensor<1x8x2xf16> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x4x2xf32>, %t1: tensor<4x8xi64>, %t2: tensor<4x8xf32>) {
// CHECK-NEXT:      %6 = fused.load %t1[%d3, %d1] : tensor<4x8xi64>
// CHECK-NEXT:      %7 = arith.index_cast %6 : i64 to index
// CHECK-NEXT:      %8 = arith.constant 0 : index
// CHECK-NEXT:      %9 = arith.maxsi %7, %8 : index
// CHECK-NEXT:      %10 = arith.constant 3 : index
// CHECK-NEXT:      %11 = arith.minsi %9, %10 : index
// CHECK-NEXT:      %12 = fused.load %t0[%d0, %11, %d2] : tensor<1x4x2xf32>
// CHECK-NEXT:      %13 = fused.load %t2[%d3, %d1] : tensor<4x8xf32>
// CHECK-NEXT:      %14 = arith.mulf %12, %13 : f32
// CHECK-NEXT:      fused.yield %14 : f32
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: f32, %t0_1: tensor<1x4x2xf32>, %t1_1: tensor<4x8xi64>, %t2_1: tensor<4x8xf32>) {
// CHECK-NEXT:      %15 = arith.truncf %acc : f32 to f16
// CHECK-NEXT:      fused.yield %15 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %5 : tensor<1x8x2xf16>
// CHECK-NEXT:  }
func.func @cubic(%x: tensor<1x4x4xf16>) -> tensor<1x8x2xf16> {
  %0 = ge.Resize(%x) mode cubic scales [1.0, 2.0, 0.5] : (tensor<1x4x4xf16>) -> tensor<1x8x2xf16>
  func.return %0 : tensor<1x8x2xf16>
}

// What lies outside x gets the extrapolation value.
// CHECK-LABEL: func.func @crop(
// CHECK-NEXT:    %0 = fused.const dense<[[1, 3, 3]]> : tensor<1x3xi64>
// CHECK-NEXT:    %1 = fused.const dense<[false, false, true]> : tensor<3xi1>
// CHECK-NEXT:    %2 = fused.generic "Resize"(%x, %0, %1) : (tensor<4xi32>, tensor<1x3xi64>, tensor<3xi1>) -> tensor<3xi32> body(%d0: index, %t0: tensor<4xi32>, %t1: tensor<1x3xi64>, %t2: tensor<3xi1>) {
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = fused.load %t1[%3, %d0] : tensor<1x3xi64>
// CHECK-NEXT:      %5 = arith.index_cast %4 : i64 to index
// CHECK-NEXT:      %6 = arith.maxsi %5, %3 : index
// CHECK-NEXT:      %7 = arith.constant 3 : index
// CHECK-NEXT:      %8 = arith.minsi %6, %7 : index
// CHECK-NEXT:      %9 = fused.load %t0[%8] : tensor<4xi32>
// CHECK-NEXT:      %10 = arith.constant 7 : i32
// CHECK-NEXT:      %11 = fused.load %t2[%d0] : tensor<3xi1>
// CHECK-NEXT:      %12 = arith.select %11, %10, %9 : i32
// CHECK-NEXT:      fused.yield %12 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %2 : tensor<3xi32>
// CHECK-NEXT:  }
func.func @crop(%x: tensor<4xi32>) -> tensor<3xi32> {
  %0 = ge.Resize(%x) coordinate_mode tf_crop_and_resize roi [0.5, 1.5] extrapolation_value 7.0 scales [0.75] : (tensor<4xi32>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}
