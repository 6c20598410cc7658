// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Pointwise operators: one generic each; a scalar constant becomes a constant of the region, an operand used twice
// is one input, dimensions of extent 1 broadcast.

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT:    %0 = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(%d0: index, %d1: index, %t0: tensor<4x8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0, %d1] : tensor<4x8xf32>
// CHECK-NEXT:      %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %3 = arith.maximumf %1, %2 : f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x8xf32>
// CHECK-NEXT:  }
func.func @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = ge.Relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scaled(
// CHECK-NEXT:    %0 = fused.generic "Mul"(%x) : (tensor<8xf32>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %2 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:      %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<8xf32>
// CHECK-NEXT:  }
func.func @scaled(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = ge.Const dense<0.5> : tensor<1xf32>
  %0 = ge.Mul(%x, %c) : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @square(
// CHECK-NEXT:    %0 = fused.generic "Mul"(%x) : (tensor<8xf32>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %2 = arith.mulf %1, %1 : f32
// CHECK-NEXT:      fused.yield %2 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<8xf32>
// CHECK-NEXT:  }
func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ge.Mul(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT:    %0 = fused.generic "Less"(%x, %y) : (tensor<4x1x3xi32>, tensor<5x3xi32>) -> tensor<4x5x3xi1> body(%d0: index, %d1: index, %d2: index, %t0: tensor<4x1x3xi32>, %t1: tensor<5x3xi32>) {
// CHECK-NEXT:      %1 = arith.constant 0 : index
// CHECK-NEXT:      %2 = fused.load %t0[%d0, %1, %d2] : tensor<4x1x3xi32>
// CHECK-NEXT:      %3 = fused.load %t1[%d1, %d2] : tensor<5x3xi32>
// CHECK-NEXT:      %4 = arith.cmpi slt, %2, %3 : i32
// CHECK-NEXT:      fused.yield %4 : i1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<4x5x3xi1>
// CHECK-NEXT:  }
func.func @broadcast(%x: tensor<4x1x3xi32>, %y: tensor<5x3xi32>) -> tensor<4x5x3xi1> {
  %0 = ge.Less(%x, %y) : (tensor<4x1x3xi32>, tensor<5x3xi32>) -> tensor<4x5x3xi1>
  func.return %0 : tensor<4x5x3xi1>
}

// f16 is computed in f32 and rounded once.
// CHECK-LABEL: func.func @half(
// CHECK-NEXT:    %0 = fused.generic "Add"(%x, %y) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16> body(%d0: index, %t0: tensor<8xf16>, %t1: tensor<8xf16>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xf16>
// CHECK-NEXT:      %2 = arith.extf %1 : f16 to f32
// CHECK-NEXT:      %3 = fused.load %t1[%d0] : tensor<8xf16>
// CHECK-NEXT:      %4 = arith.extf %3 : f16 to f32
// CHECK-NEXT:      %5 = arith.addf %2, %4 : f32
// CHECK-NEXT:      %6 = arith.truncf %5 : f32 to f16
// CHECK-NEXT:      fused.yield %6 : f16
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<8xf16>
// CHECK-NEXT:  }
func.func @half(%x: tensor<8xf16>, %y: tensor<8xf16>) -> tensor<8xf16> {
  %0 = ge.Add(%x, %y) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %0 : tensor<8xf16>
}

// Unsigned integers compare and convert unsigned; float to ui8 goes through i32.
// CHECK-LABEL: func.func @unsigned(
// CHECK-NEXT:    %0 = fused.generic "Maximum"(%x, %y) : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8> body(%d0: index, %t0: tensor<8xui8>, %t1: tensor<8xui8>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xui8>
// CHECK-NEXT:      %2 = fused.load %t1[%d0] : tensor<8xui8>
// CHECK-NEXT:      %3 = arith.maxui %1, %2 : i8
// CHECK-NEXT:      fused.yield %3 : i8
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "Cast"(%x) : (tensor<8xui8>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xui8>) {
// CHECK-NEXT:      %2 = fused.load %t0[%d0] : tensor<8xui8>
// CHECK-NEXT:      %3 = arith.uitofp %2 : i8 to f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = fused.generic "Cast"(%f) : (tensor<8xf32>) -> tensor<8xui8> body(%d0: index, %t0: tensor<8xf32>) {
// CHECK-NEXT:      %3 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %4 = arith.fptosi %3 : f32 to i32
// CHECK-NEXT:      %5 = arith.trunci %4 : i32 to i8
// CHECK-NEXT:      fused.yield %5 : i8
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %1, %2 : tensor<8xui8>, tensor<8xf32>, tensor<8xui8>
// CHECK-NEXT:  }
func.func @unsigned(%x: tensor<8xui8>, %y: tensor<8xui8>, %f: tensor<8xf32>) -> (tensor<8xui8>, tensor<8xf32>, tensor<8xui8>) {
  %0 = ge.Maximum(%x, %y) : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %1 = ge.Cast(%x) : (tensor<8xui8>) -> tensor<8xf32>
  %2 = ge.Cast(%f) : (tensor<8xf32>) -> tensor<8xui8>
  func.return %0, %1, %2 : tensor<8xui8>, tensor<8xf32>, tensor<8xui8>
}

// An integer division that cannot trap: 0 for a zero divisor, wrapped for -1.
// CHECK-LABEL: func.func @divide(
// CHECK-NEXT:    %0 = fused.generic "RealDiv"(%x, %y) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32> body(%d0: index, %t0: tensor<8xi32>, %t1: tensor<8xi32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xi32>
// CHECK-NEXT:      %2 = fused.load %t1[%d0] : tensor<8xi32>
// CHECK-NEXT:      %3 = arith.constant 0 : i32
// CHECK-NEXT:      %4 = arith.cmpi eq, %2, %3 : i32
// CHECK-NEXT:      %5 = arith.constant -1 : i32
// CHECK-NEXT:      %6 = arith.cmpi eq, %2, %5 : i32
// CHECK-NEXT:      %7 = arith.ori %4, %6 : i1
// CHECK-NEXT:      %8 = arith.constant 1 : i32
// CHECK-NEXT:      %9 = arith.select %7, %8, %2 : i32
// CHECK-NEXT:      %10 = arith.divsi %1, %9 : i32
// CHECK-NEXT:      %11 = arith.subi %3, %1 : i32
// CHECK-NEXT:      %12 = arith.select %6, %11, %10 : i32
// CHECK-NEXT:      %13 = arith.select %4, %3, %12 : i32
// CHECK-NEXT:      fused.yield %13 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : tensor<8xi32>
// CHECK-NEXT:  }
func.func @divide(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %0 = ge.RealDiv(%x, %y) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  func.return %0 : tensor<8xi32>
}

// Small constant exponents need no pow.
// CHECK-LABEL: func.func @power(
// CHECK-NEXT:    %0 = fused.generic "Pow"(%x) : (tensor<8xf32>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xf32>) {
// CHECK-NEXT:      %1 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %2 = arith.mulf %1, %1 : f32
// CHECK-NEXT:      %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:      fused.yield %3 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.generic "Pow"(%x) : (tensor<8xf32>) -> tensor<8xf32> body(%d0: index, %t0: tensor<8xf32>) {
// CHECK-NEXT:      %2 = fused.load %t0[%d0] : tensor<8xf32>
// CHECK-NEXT:      %3 = arith.constant 1.700000e+00 : f32
// CHECK-NEXT:      %4 = math.powf %2, %3 : f32
// CHECK-NEXT:      fused.yield %4 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT:  }
func.func @power(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = ge.Const dense<3.0> : tensor<f32>
  %0 = ge.Pow(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = ge.Const dense<1.7> : tensor<f32>
  %1 = ge.Pow(%x, %d) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Nothing is left of Identity and of a Cast to the same type.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    func.return %x : tensor<8xf32>
// CHECK-NEXT:  }
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ge.Identity(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = ge.Cast(%0) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
