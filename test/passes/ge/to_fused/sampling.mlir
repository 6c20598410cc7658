// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// A coordinate is near x before it becomes an index.
// CHECK-LABEL: func.func @grid(
// CHECK-NEXT:    %0 = fused.generic "GridSample"(%x, %g) : (tensor<1x2x3x4xf16>, tensor<1x5x6x2xf32>) -> tensor<1x2x5x6xf16> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x2x3x4xf16>, %t1: tensor<1x5x6x2xf32>) {
// CHECK-NEXT:      %1 = arith.constant 1 : index
// CHECK-NEXT:      %2 = fused.load %t1[%d0, %d2, %d3, %1] : tensor<1x5x6x2xf32>
// CHECK-NEXT:      %3 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      %4 = arith.addf %2, %3 : f32
// CHECK-NEXT:      %5 = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:      %6 = arith.mulf %4, %5 : f32
// CHECK-NEXT:      %7 = arith.subf %6, %3 : f32
// CHECK-NEXT:      %8 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:      %9 = arith.mulf %7, %8 : f32
// CHECK-NEXT:      %10 = math.roundeven %9 : f32
// CHECK-NEXT:      %11 = arith.constant -4.000000e+00 : f32
// CHECK-NEXT:      %12 = arith.maximumf %10, %11 : f32
// CHECK-NEXT:      %13 = arith.constant 7.000000e+00 : f32
// CHECK-NEXT:      %14 = arith.minimumf %12, %13 : f32
// CHECK-NEXT:      %15 = math.floor %14 : f32
// CHECK-NEXT:      %16 = arith.fptosi %15 : f32 to i64
// CHECK-NEXT:      %17 = arith.index_cast %16 : i64 to index
// CHECK-NEXT:      %18 = arith.constant 0 : index
// CHECK-NEXT:      %19 = arith.cmpi sge, %17, %18 : index
// CHECK-NEXT:      %20 = arith.constant 3 : index
// CHECK-NEXT:      %21 = arith.cmpi slt, %17, %20 : index
// CHECK-NEXT:      %22 = arith.andi %19, %21 : i1
// CHECK-NEXT:      %23 = arith.maxsi %17, %18 : index
// CHECK-NEXT:      %24 = arith.constant 2 : index
// CHECK-NEXT:      %25 = arith.minsi %23, %24 : index
// CHECK-NEXT:      %26 = fused.load %t1[%d0, %d2, %d3, %18] : tensor<1x5x6x2xf32>
// CHECK-NEXT:      %27 = arith.addf %26, %3 : f32
// CHECK-NEXT:      %28 = arith.constant 4.000000e+00 : f32
// CHECK-NEXT:      %29 = arith.mulf %27, %28 : f32
// CHECK-NEXT:      %30 = arith.subf %29, %3 : f32
// CHECK-NEXT:      %31 = arith.mulf %30, %8 : f32
// CHECK-NEXT:      %32 = math.roundeven %31 : f32
// CHECK-NEXT:      %33 = arith.maximumf %32, %11 : f32
// CHECK-NEXT:      %34 = arith.constant 8.000000e+00 : f32
// CHECK-NEXT:      %35 = arith.minimumf %33, %34 : f32
// CHECK-NEXT:      %36 = math.floor %35 : f32
// CHECK-NEXT:      %37 = arith.fptosi %36 : f32 to i64
// CHECK-NEXT:      %38 = arith.index_cast %37 : i64 to index
// CHECK-NEXT:      %39 = arith.cmpi sge, %38, %18 : index
// CHECK-NEXT:      %40 = arith.constant 4 : index
// CHECK-NEXT:      %41 = arith.cmpi slt, %38, %40 : index
// CHECK-NEXT:      %42 = arith.andi %39, %41 : i1
// CHECK-NEXT:      %43 = arith.maxsi %38, %18 : index
// CHECK-NEXT:      %44 = arith.minsi %43, %20 : index
// CHECK-NEXT:      %45 = arith.constant 0.000000e+00 : f16
// CHECK-NEXT:      %46 = arith.andi %22, %42 : i1
// CHECK-NEXT:      %47 = fused.load %t0[%d0, %d1, %25, %44] : tensor<1x2x3x4xf16>
// CHECK-NEXT:      %48 = arith.select %46, %47, %45 : f16
// CHECK-NEXT:      fused.yield %48 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x5x6xf16>
// CHECK-NEXT:  }
func.func @grid(%x: tensor<1x2x3x4xf16>, %g: tensor<1x5x6x2xf32>) -> tensor<1x2x5x6xf16> {
  %0 = ge.GridSample(%x, %g) mode nearest : (tensor<1x2x3x4xf16>, tensor<1x5x6x2xf32>) -> tensor<1x2x5x6xf16>
  func.return %0 : tensor<1x2x5x6xf16>
}

// CHECK-LABEL: func.func @blocks(
// CHECK-NEXT:    %0 = fused.generic "Col2Im"(%x) {combiner = "add", reduction = array<i64: 2>} : (tensor<1x4x3xi8>) -> tensor<1x2x4xi8> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x4x3xi8>) {
// CHECK-NEXT:      %1 = arith.constant 0 : index
// CHECK-NEXT:      %2 = arith.subi %d2, %d3 : index
// CHECK-NEXT:      %3 = arith.cmpi sge, %2, %1 : index
// CHECK-NEXT:      %4 = arith.constant 3 : index
// CHECK-NEXT:      %5 = arith.cmpi slt, %2, %4 : index
// CHECK-NEXT:      %6 = arith.andi %3, %5 : i1
// CHECK-NEXT:      %7 = arith.maxsi %2, %1 : index
// CHECK-NEXT:      %8 = arith.constant 2 : index
// CHECK-NEXT:      %9 = arith.minsi %7, %8 : index
// CHECK-NEXT:      %10 = arith.muli %d1, %8 : index
// CHECK-NEXT:      %11 = arith.addi %10, %d3 : index
// CHECK-NEXT:      %12 = fused.load %t0[%d0, %11, %9] : tensor<1x4x3xi8>
// CHECK-NEXT:      %13 = arith.constant 0 : i8
// CHECK-NEXT:      %14 = arith.select %6, %12, %13 : i8
// CHECK-NEXT:      fused.yield %14 : i8
// CHECK-NEXT:    } epilogue(%d0_1: index, %d1_1: index, %d2_1: index, %acc: i8, %t0_1: tensor<1x4x3xi8>) {
// CHECK-NEXT:      fused.yield %acc : i8
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x4xi8>
// CHECK-NEXT:  }
func.func @blocks(%x: tensor<1x4x3xi8>) -> tensor<1x2x4xi8> {
  %0 = ge.Col2Im(%x) image [4] block [2] strides [1] pads [0, 0] dilations [1] : (tensor<1x4x3xi8>) -> tensor<1x2x4xi8>
  func.return %0 : tensor<1x2x4xi8>
}

// Offsets say where each tap samples, between four pixels; those outside the image count nothing; the mask scales.
// CHECK-LABEL: func.func @deformed(
// CHECK:         %y = fused.generic "DeformableOffsets"(%x, %o, %m)
// CHECK:           fused.load %t1[%d0, %12, %1, %2] : tensor<1x8x4x6xf32>
// CHECK-COUNT-4:   fused.load %t0[%d0, %d1, {{.*}}] : tensor<1x2x5x7xf32>
// CHECK:           [[M:%.+]] = fused.load %t2[%d0, %9, %1, %2] : tensor<1x4x4x6xf32>
// CHECK-NEXT:      [[Y:%.+]] = arith.mulf {{.*}}, [[M]] : f32
// CHECK-NEXT:      fused.yield [[Y]] : f32
func.func @deformed(%x: tensor<1x2x5x7xf32>, %o: tensor<1x8x4x6xf32>, %m: tensor<1x4x4x6xf32>) -> tensor<1x2x8x12xf32> {
  %y = ge.DeformableOffsets(%x, %o, %m) kernel [2, 2] groups 1 : (tensor<1x2x5x7xf32>, tensor<1x8x4x6xf32>, tensor<1x4x4x6xf32>) -> tensor<1x2x8x12xf32>
  func.return %y : tensor<1x2x8x12xf32>
}

// The images of the regions are checked first, each once; then samples of a bin are summed.
// CHECK-LABEL: func.func @regions(
// CHECK:         %y = fused.generic "RoiAlign"(%b) : (tensor<3xi64>) -> tensor<3xi64>
// CHECK:           fused.check_index {{.*}}, 2 : i64
// CHECK:         %y_1 = fused.generic "RoiAlign"(%x, %r, %y) {combiner = "add", reduction = array<i64: 2, 2>}
func.func @regions(%x: tensor<2x4x5x7xf32>, %r: tensor<3x4xf32>, %b: tensor<3xi64>) -> tensor<3x4x3x2xf32> {
  %y = ge.RoiAlign(%x, %r, %b) height 3 width 2 sampling_ratio 2 : (tensor<2x4x5x7xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x4x3x2xf32>
  func.return %y : tensor<3x4x3x2xf32>
}
