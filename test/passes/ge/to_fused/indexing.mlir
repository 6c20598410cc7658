// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Gathers check their indices; Resize computes them as exact fractions.

// CHECK-LABEL: func.func @gather(
// CHECK-NEXT:    %0 = fused.generic "Gather"(%x, %i) : (tensor<5x8xf32>, tensor<3xi64>) -> tensor<3x8xf32> body(%d0: index, %d1: index, %t0: tensor<5x8xf32>, %t1: tensor<3xi64>) {
// CHECK-NEXT:      %1 = fused.load %t1[%d0] : tensor<3xi64>
// CHECK-NEXT:      %2 = arith.index_cast %1 : i64 to index
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = arith.cmpi slt, %2, %3 : index
// CHECK-NEXT:      %5 = arith.constant 5 : index
// CHECK-NEXT:      %6 = arith.addi %2, %5 : index
// CHECK-NEXT:      %7 = arith.select %4, %6, %2 : index
// CHECK-NEXT:      %8 = fused.check_index %7, 5 : i64
// CHECK-NEXT:      %9 = fused.load %t0[%8, %d1] : tensor<5x8xf32>
// CHECK-NEXT:      fused.yield %9 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<3x8xf32>
// CHECK-NEXT:  }
func.func @gather(%x: tensor<5x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %0 = ge.Gather(%x, %i) axis 0 : (tensor<5x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  func.return %0 : tensor<3x8xf32>
}

// Upsampling by whole factors is a division.
// CHECK-LABEL: func.func @nearest(
// CHECK-NEXT:    %0 = fused.generic "Resize"(%x) : (tensor<1x1x3x4xf32>) -> tensor<1x1x6x8xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x1x3x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.divui %d2, %1 : index
// CHECK-NEXT:      %3 = arith.divui %d3, %1 : index
// CHECK-NEXT:      %4 = fused.load %t0[%d0, %d1, %2, %3] : tensor<1x1x3x4xf32>
// CHECK-NEXT:      fused.yield %4 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x1x6x8xf32>
// CHECK-NEXT:  }
func.func @nearest(%x: tensor<1x1x3x4xf32>) -> tensor<1x1x6x8xf32> {
  %0 = ge.Resize(%x) scales [1.0, 1.0, 2.0, 2.0] : (tensor<1x1x3x4xf32>) -> tensor<1x1x6x8xf32>
  func.return %0 : tensor<1x1x6x8xf32>
}

// CHECK-LABEL: func.func @linear(
// CHECK-NEXT:    %0 = fused.generic "Resize"(%x) : (tensor<1x4xf32>) -> tensor<1x6xf32> body(%d0: index, %d1: index, %t0: tensor<1x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 4 : index
// CHECK-NEXT:      %2 = arith.muli %d1, %1 : index
// CHECK-NEXT:      %3 = arith.constant 1 : index
// CHECK-NEXT:      %4 = arith.subi %2, %3 : index
// CHECK-NEXT:      %5 = arith.constant 6 : index
// CHECK-NEXT:      %6 = arith.constant 5 : index
// CHECK-NEXT:      %7 = arith.addi %2, %6 : index
// CHECK-NEXT:      %8 = arith.divui %7, %5 : index
// CHECK-NEXT:      %9 = arith.subi %8, %3 : index
// CHECK-NEXT:      %10 = arith.muli %9, %5 : index
// CHECK-NEXT:      %11 = arith.subi %4, %10 : index
// CHECK-NEXT:      %12 = arith.index_cast %11 : index to i64
// CHECK-NEXT:      %13 = arith.sitofp %12 : i64 to f32
// CHECK-NEXT:      %14 = arith.constant 0.166666672 : f32
// CHECK-NEXT:      %15 = arith.mulf %13, %14 : f32
// CHECK-NEXT:      %16 = arith.constant 0 : index
// CHECK-NEXT:      %17 = arith.maxsi %9, %16 : index
// CHECK-NEXT:      %18 = arith.constant 3 : index
// CHECK-NEXT:      %19 = arith.minsi %17, %18 : index
// CHECK-NEXT:      %20 = arith.maxsi %8, %16 : index
// CHECK-NEXT:      %21 = arith.minsi %20, %18 : index
// CHECK-NEXT:      %22 = fused.load %t0[%d0, %19] : tensor<1x4xf32>
// CHECK-NEXT:      %23 = fused.load %t0[%d0, %21] : tensor<1x4xf32>
// CHECK-NEXT:      %24 = arith.subf %23, %22 : f32
// CHECK-NEXT:      %25 = arith.mulf %24, %15 : f32
// CHECK-NEXT:      %26 = arith.addf %22, %25 : f32
// CHECK-NEXT:      fused.yield %26 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x6xf32>
// CHECK-NEXT:  }
func.func @linear(%x: tensor<1x4xf32>) -> tensor<1x6xf32> {
  %0 = ge.Resize(%x) mode linear scales [1.0, 1.5] : (tensor<1x4xf32>) -> tensor<1x6xf32>
  func.return %0 : tensor<1x6xf32>
}

// CHECK-LABEL: func.func @depth_to_space(
// CHECK-NEXT:    %0 = fused.generic "DepthToSpace"(%x) : (tensor<1x8x3x4xf32>) -> tensor<1x2x6x8xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x8x3x4xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.remui %d2, %1 : index
// CHECK-NEXT:      %3 = arith.remui %d3, %1 : index
// CHECK-NEXT:      %4 = arith.divui %d2, %1 : index
// CHECK-NEXT:      %5 = arith.divui %d3, %1 : index
// CHECK-NEXT:      %6 = arith.muli %2, %1 : index
// CHECK-NEXT:      %7 = arith.addi %6, %3 : index
// CHECK-NEXT:      %8 = arith.muli %7, %1 : index
// CHECK-NEXT:      %9 = arith.addi %8, %d1 : index
// CHECK-NEXT:      %10 = fused.load %t0[%d0, %9, %4, %5] : tensor<1x8x3x4xf32>
// CHECK-NEXT:      fused.yield %10 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x2x6x8xf32>
// CHECK-NEXT:  }
func.func @depth_to_space(%x: tensor<1x8x3x4xf32>) -> tensor<1x2x6x8xf32> {
  %0 = ge.DepthToSpace(%x) block_size 2 : (tensor<1x8x3x4xf32>) -> tensor<1x2x6x8xf32>
  func.return %0 : tensor<1x2x6x8xf32>
}

// CHECK-LABEL: func.func @gather_elements(
// CHECK-NEXT:    %0 = fused.generic "GatherElements"(%x, %i) : (tensor<5x8xf32>, tensor<5x3xi32>) -> tensor<5x3xf32> body(%d0: index, %d1: index, %t0: tensor<5x8xf32>, %t1: tensor<5x3xi32>) {
// CHECK-NEXT:      %1 = fused.load %t1[%d0, %d1] : tensor<5x3xi32>
// CHECK-NEXT:      %2 = arith.index_cast %1 : i32 to index
// CHECK-NEXT:      %3 = arith.constant 0 : index
// CHECK-NEXT:      %4 = arith.cmpi slt, %2, %3 : index
// CHECK-NEXT:      %5 = arith.constant 8 : index
// CHECK-NEXT:      %6 = arith.addi %2, %5 : index
// CHECK-NEXT:      %7 = arith.select %4, %6, %2 : index
// CHECK-NEXT:      %8 = fused.check_index %7, 8 : i64
// CHECK-NEXT:      %9 = fused.load %t0[%d0, %8] : tensor<5x8xf32>
// CHECK-NEXT:      fused.yield %9 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<5x3xf32>
// CHECK-NEXT:  }
func.func @gather_elements(%x: tensor<5x8xf32>, %i: tensor<5x3xi32>) -> tensor<5x3xf32> {
  %0 = ge.GatherElements(%x, %i) axis 1 : (tensor<5x8xf32>, tensor<5x3xi32>) -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}

// Each component of an index vector is checked.
// CHECK-LABEL: func.func @gather_nd(
// CHECK-NEXT:    %0 = fused.generic "GatherND"(%x, %i) : (tensor<5x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32> body(%d0: index, %d1: index, %t0: tensor<5x8x2xf32>, %t1: tensor<3x2xi64>) {
// CHECK-NEXT:      %1 = arith.constant 0 : index
// CHECK-NEXT:      %2 = fused.load %t1[%d0, %1] : tensor<3x2xi64>
// CHECK-NEXT:      %3 = arith.index_cast %2 : i64 to index
// CHECK-NEXT:      %4 = arith.cmpi slt, %3, %1 : index
// CHECK-NEXT:      %5 = arith.constant 5 : index
// CHECK-NEXT:      %6 = arith.addi %3, %5 : index
// CHECK-NEXT:      %7 = arith.select %4, %6, %3 : index
// CHECK-NEXT:      %8 = fused.check_index %7, 5 : i64
// CHECK-NEXT:      %9 = arith.constant 1 : index
// CHECK-NEXT:      %10 = fused.load %t1[%d0, %9] : tensor<3x2xi64>
// CHECK-NEXT:      %11 = arith.index_cast %10 : i64 to index
// CHECK-NEXT:      %12 = arith.cmpi slt, %11, %1 : index
// CHECK-NEXT:      %13 = arith.constant 8 : index
// CHECK-NEXT:      %14 = arith.addi %11, %13 : index
// CHECK-NEXT:      %15 = arith.select %12, %14, %11 : index
// CHECK-NEXT:      %16 = fused.check_index %15, 8 : i64
// CHECK-NEXT:      %17 = fused.load %t0[%8, %16, %d1] : tensor<5x8x2xf32>
// CHECK-NEXT:      fused.yield %17 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<3x2xf32>
// CHECK-NEXT:  }
func.func @gather_nd(%x: tensor<5x8x2xf32>, %i: tensor<3x2xi64>) -> tensor<3x2xf32> {
  %0 = ge.GatherND(%x, %i) : (tensor<5x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @space_to_depth(
// CHECK-NEXT:    %0 = fused.generic "SpaceToDepth"(%x) : (tensor<1x2x6x8xf32>) -> tensor<1x8x3x4xf32> body(%d0: index, %d1: index, %d2: index, %d3: index, %t0: tensor<1x2x6x8xf32>) {
// CHECK-NEXT:      %1 = arith.constant 2 : index
// CHECK-NEXT:      %2 = arith.divui %d1, %1 : index
// CHECK-NEXT:      %3 = arith.remui %d1, %1 : index
// CHECK-NEXT:      %4 = arith.divui %2, %1 : index
// CHECK-NEXT:      %5 = arith.remui %2, %1 : index
// CHECK-NEXT:      %6 = arith.muli %d2, %1 : index
// CHECK-NEXT:      %7 = arith.addi %6, %4 : index
// CHECK-NEXT:      %8 = arith.muli %d3, %1 : index
// CHECK-NEXT:      %9 = arith.addi %8, %5 : index
// CHECK-NEXT:      %10 = fused.load %t0[%d0, %3, %7, %9] : tensor<1x2x6x8xf32>
// CHECK-NEXT:      fused.yield %10 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<1x8x3x4xf32>
// CHECK-NEXT:  }
func.func @space_to_depth(%x: tensor<1x2x6x8xf32>) -> tensor<1x8x3x4xf32> {
  %0 = ge.SpaceToDepth(%x) block_size 2 : (tensor<1x2x6x8xf32>) -> tensor<1x8x3x4xf32>
  func.return %0 : tensor<1x8x3x4xf32>
}
