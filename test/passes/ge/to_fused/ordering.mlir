// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Five elements: steps of 1, 2 and 4.
// CHECK-LABEL: func.func @sums(
// CHECK-NEXT:    %0 = fused.generic "CumSum"(%x) : (tensor<5xi32>) -> tensor<5xi32> body(%d0: index, %t0: tensor<5xi32>) {
// CHECK-NEXT:      %1 = arith.constant 1 : index
// CHECK-NEXT:      %2 = arith.cmpi sge, %d0, %1 : index
// CHECK-NEXT:      %3 = arith.subi %d0, %1 : index
// CHECK-NEXT:      %4 = arith.constant 0 : index
// CHECK-NEXT:      %5 = arith.maxsi %3, %4 : index
// CHECK-NEXT:      %6 = fused.load %t0[%5] : tensor<5xi32>
// CHECK-NEXT:      %7 = arith.constant 0 : i32
// CHECK-NEXT:      %8 = arith.select %2, %6, %7 : i32
// CHECK-NEXT:      %9 = fused.load %t0[%d0] : tensor<5xi32>
// CHECK-NEXT:      %10 = arith.addi %9, %8 : i32
// CHECK-NEXT:      fused.yield %10 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "CumSum"(%0) : (tensor<5xi32>) -> tensor<5xi32> body(%d0: index, %t0: tensor<5xi32>) {
// CHECK-NEXT:      %2 = arith.constant 2 : index
// CHECK-NEXT:      %3 = arith.cmpi sge, %d0, %2 : index
// CHECK-NEXT:      %4 = arith.subi %d0, %2 : index
// CHECK-NEXT:      %5 = arith.constant 0 : index
// CHECK-NEXT:      %6 = arith.maxsi %4, %5 : index
// CHECK-NEXT:      %7 = fused.load %t0[%6] : tensor<5xi32>
// CHECK-NEXT:      %8 = arith.constant 0 : i32
// CHECK-NEXT:      %9 = arith.select %3, %7, %8 : i32
// CHECK-NEXT:      %10 = fused.load %t0[%d0] : tensor<5xi32>
// CHECK-NEXT:      %11 = arith.addi %10, %9 : i32
// CHECK-NEXT:      fused.yield %11 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = fused.generic "CumSum"(%1) : (tensor<5xi32>) -> tensor<5xi32> body(%d0: index, %t0: tensor<5xi32>) {
// CHECK-NEXT:      %3 = arith.constant 4 : index
// CHECK-NEXT:      %4 = arith.cmpi sge, %d0, %3 : index
// CHECK-NEXT:      %5 = arith.subi %d0, %3 : index
// CHECK-NEXT:      %6 = arith.constant 0 : index
// CHECK-NEXT:      %7 = arith.maxsi %5, %6 : index
// CHECK-NEXT:      %8 = fused.load %t0[%7] : tensor<5xi32>
// CHECK-NEXT:      %9 = arith.constant 0 : i32
// CHECK-NEXT:      %10 = arith.select %4, %8, %9 : i32
// CHECK-NEXT:      %11 = fused.load %t0[%d0] : tensor<5xi32>
// CHECK-NEXT:      %12 = arith.addi %11, %10 : i32
// CHECK-NEXT:      fused.yield %12 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %2 : tensor<5xi32>
// CHECK-NEXT:  }
func.func @sums(%x: tensor<5xi32>) -> tensor<5xi32> {
  %0 = ge.CumSum(%x) axis 0 : (tensor<5xi32>) -> tensor<5xi32>
  func.return %0 : tensor<5xi32>
}

// Half formats stay in f32 between steps; an exclusive sum is shifted first.
// CHECK-LABEL: func.func @exclusive(
// CHECK-NEXT:    %0 = fused.generic "CumSum"(%x) : (tensor<2xf16>) -> tensor<2xf32> body(%d0: index, %t0: tensor<2xf16>) {
// CHECK-NEXT:      %1 = arith.constant 1 : index
// CHECK-NEXT:      %2 = arith.cmpi sge, %d0, %1 : index
// CHECK-NEXT:      %3 = arith.subi %d0, %1 : index
// CHECK-NEXT:      %4 = arith.constant 0 : index
// CHECK-NEXT:      %5 = arith.maxsi %3, %4 : index
// CHECK-NEXT:      %6 = fused.load %t0[%5] : tensor<2xf16>
// CHECK-NEXT:      %7 = arith.extf %6 : f16 to f32
// CHECK-NEXT:      %8 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %9 = arith.select %2, %7, %8 : f32
// CHECK-NEXT:      fused.yield %9 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "CumSum"(%0) : (tensor<2xf32>) -> tensor<2xf16> body(%d0: index, %t0: tensor<2xf32>) {
// CHECK-NEXT:      %2 = arith.constant 1 : index
// CHECK-NEXT:      %3 = arith.cmpi sge, %d0, %2 : index
// CHECK-NEXT:      %4 = arith.subi %d0, %2 : index
// CHECK-NEXT:      %5 = arith.constant 0 : index
// CHECK-NEXT:      %6 = arith.maxsi %4, %5 : index
// CHECK-NEXT:      %7 = fused.load %t0[%6] : tensor<2xf32>
// CHECK-NEXT:      %8 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %9 = arith.select %3, %7, %8 : f32
// CHECK-NEXT:      %10 = fused.load %t0[%d0] : tensor<2xf32>
// CHECK-NEXT:      %11 = arith.addf %10, %9 : f32
// CHECK-NEXT:      %12 = arith.truncf %11 : f32 to f16
// CHECK-NEXT:      fused.yield %12 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %1 : tensor<2xf16>
// CHECK-NEXT:  }
func.func @exclusive(%x: tensor<2xf16>) -> tensor<2xf16> {
  %0 = ge.CumSum(%x) axis 0 exclusive true : (tensor<2xf16>) -> tensor<2xf16>
  func.return %0 : tensor<2xf16>
}

// CHECK-LABEL: func.func @largest(
// CHECK-NEXT:    %0 = fused.generic "TopK"(%x) : (tensor<9xf32>) -> tensor<9xi64> body(%d0: index, %t0: tensor<9xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<9xf32>
// CHECK-NEXT:      %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %3 = arith.addf %1, %2 : f32
// CHECK-NEXT:      %4 = arith.bitcast %3 : f32 to i32
// CHECK-NEXT:      %5 = arith.constant 31 : i32
// CHECK-NEXT:      %6 = arith.shrsi %4, %5 : i32
// CHECK-NEXT:      %7 = arith.constant 2147483647 : i32
// CHECK-NEXT:      %8 = arith.andi %6, %7 : i32
// CHECK-NEXT:      %9 = arith.xori %4, %8 : i32
// CHECK-NEXT:      %10 = arith.cmpf uno, %1, %1 : f32
// CHECK-NEXT:      %11 = arith.select %10, %7, %9 : i32
// CHECK-NEXT:      %12 = arith.extsi %11 : i32 to i64
// CHECK-NEXT:      %13 = arith.constant -1 : i64
// CHECK-NEXT:      %14 = arith.xori %12, %13 : i64
// CHECK-NEXT:      %15 = arith.constant 32 : i64
// CHECK-NEXT:      %16 = arith.shli %14, %15 : i64
// CHECK-NEXT:      %17 = arith.index_cast %d0 : index to i64
// CHECK-NEXT:      %18 = arith.ori %16, %17 : i64
// CHECK-NEXT:      fused.yield %18 : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "TopK"(%0) {combiner = "add", reduction = array<i64: 9>} : (tensor<9xi64>) -> tensor<9xi64> body(%d0: index, %d1: index, %t0: tensor<9xi64>) {
// CHECK-NEXT:      %2 = arith.constant 9 : index
// CHECK-NEXT:      %3 = arith.divui %d0, %2 : index
// CHECK-NEXT:      %4 = arith.muli %3, %2 : index
// CHECK-NEXT:      %5 = arith.addi %4, %d1 : index
// CHECK-NEXT:      %6 = fused.load %t0[%5] : tensor<9xi64>
// CHECK-NEXT:      %7 = fused.load %t0[%d0] : tensor<9xi64>
// CHECK-NEXT:      %8 = arith.cmpi slt, %6, %7 : i64
// CHECK-NEXT:      %9 = arith.constant 1 : i64
// CHECK-NEXT:      %10 = arith.constant 0 : i64
// CHECK-NEXT:      %11 = arith.select %8, %9, %10 : i64
// CHECK-NEXT:      fused.yield %11 : i64
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: i64, %t0_1: tensor<9xi64>) {
// CHECK-NEXT:      fused.yield %acc : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = fused.generic "TopK"(%0, %1) {combiner = "add", reduction = array<i64: 9>} : (tensor<9xi64>, tensor<9xi64>) -> tensor<2xi64> body(%d0: index, %d1: index, %t0: tensor<9xi64>, %t1: tensor<9xi64>) {
// CHECK-NEXT:      %3 = arith.constant 2 : index
// CHECK-NEXT:      %4 = arith.divui %d0, %3 : index
// CHECK-NEXT:      %5 = arith.remui %d0, %3 : index
// CHECK-NEXT:      %6 = arith.constant 9 : index
// CHECK-NEXT:      %7 = arith.muli %4, %6 : index
// CHECK-NEXT:      %8 = arith.addi %7, %d1 : index
// CHECK-NEXT:      %9 = fused.load %t1[%8] : tensor<9xi64>
// CHECK-NEXT:      %10 = arith.index_cast %5 : index to i64
// CHECK-NEXT:      %11 = arith.cmpi eq, %9, %10 : i64
// CHECK-NEXT:      %12 = fused.load %t0[%8] : tensor<9xi64>
// CHECK-NEXT:      %13 = arith.constant 0 : i64
// CHECK-NEXT:      %14 = arith.select %11, %12, %13 : i64
// CHECK-NEXT:      fused.yield %14 : i64
// CHECK-NEXT:    } epilogue(%d0_1: index, %acc: i64, %t0_1: tensor<9xi64>, %t1_1: tensor<9xi64>) {
// CHECK-NEXT:      fused.yield %acc : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    %3 = fused.generic "TopK"(%2) : (tensor<2xi64>) -> tensor<2xi64> body(%d0: index, %t0: tensor<2xi64>) {
// CHECK-NEXT:      %4 = fused.load %t0[%d0] : tensor<2xi64>
// CHECK-NEXT:      %5 = arith.constant 4294967295 : i64
// CHECK-NEXT:      %6 = arith.andi %4, %5 : i64
// CHECK-NEXT:      fused.yield %6 : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    %4 = fused.generic "TopK"(%x, %3) : (tensor<9xf32>, tensor<2xi64>) -> tensor<2xf32> body(%d0: index, %t0: tensor<9xf32>, %t1: tensor<2xi64>) {
// CHECK-NEXT:      %5 = fused.load %t1[%d0] : tensor<2xi64>
// CHECK-NEXT:      %6 = arith.index_cast %5 : i64 to index
// CHECK-NEXT:      %7 = fused.check_index %6, 9 : i64
// CHECK-NEXT:      %8 = fused.load %t0[%7] : tensor<9xf32>
// CHECK-NEXT:      fused.yield %8 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %4, %3 : tensor<2xf32>, tensor<2xi64>
// CHECK-NEXT:  }
func.func @largest(%x: tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %0, %1 = ge.TopK(%x) k 2 : (tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return %0, %1 : tensor<2xf32>, tensor<2xi64>
}

// A length out of range fails the run.
// CHECK-LABEL: func.func @reverse(
// CHECK-NEXT:    %0 = fused.generic "ReverseSequence"(%x, %n) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32> body(%d0: index, %d1: index, %t0: tensor<4x2xf32>, %t1: tensor<2xi64>) {
// CHECK-NEXT:      %1 = fused.load %t1[%d1] : tensor<2xi64>
// CHECK-NEXT:      %2 = arith.index_cast %1 : i64 to index
// CHECK-NEXT:      %3 = fused.check_index %2, 5 : i64
// CHECK-NEXT:      %4 = arith.cmpi slt, %d0, %3 : index
// CHECK-NEXT:      %5 = arith.constant 1 : index
// CHECK-NEXT:      %6 = arith.subi %3, %5 : index
// CHECK-NEXT:      %7 = arith.subi %6, %d0 : index
// CHECK-NEXT:      %8 = arith.select %4, %7, %d0 : index
// CHECK-NEXT:      %9 = fused.check_index %8, 4 : i64
// CHECK-NEXT:      %10 = fused.load %t0[%9, %d1] : tensor<4x2xf32>
// CHECK-NEXT:      fused.yield %10 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x2xf32>
// CHECK-NEXT:  }
func.func @reverse(%x: tensor<4x2xf32>, %n: tensor<2xi64>) -> tensor<4x2xf32> {
  %0 = ge.ReverseSequence(%x, %n) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}
