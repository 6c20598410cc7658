// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: fused.generic: region body has 2 arguments, expected 3: 2 indices, 0 scalars, 1 tensors
func.func @main(%x: tensor<4x8xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(%i: index, %t: tensor<4x8xf32>) {
    %c = arith.constant 0.0 : f32
    fused.yield %c : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: argument 1 of region body has type i64, expected index
func.func @main(%x: tensor<4x8xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(%i: index, %j: i64, %t: tensor<4x8xf32>) {
    %c = arith.constant 0.0 : f32
    fused.yield %c : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: argument 1 of region body has type tensor<4xf64>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf64>) {
    %c = arith.constant 0.0 : f32
    fused.yield %c : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: region body yields f64, expected f32
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
    %c = arith.constant 0.0 : f64
    fused.yield %c : f64
  }
  func.return
}

// -----

// CHECK: fused.generic: region body yields index, expected a float or integer scalar
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xi64> body(%i: index, %t: tensor<4xf32>) {
    fused.yield %i : index
  }
  func.return
}

// -----

// CHECK: fused.generic: region body holds fused.const, expected arith, math, fused.load, fused.check_index or fused.yield
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
    %d = fused.const dense<1.0> : tensor<f32>
    %v = fused.load %d[] : tensor<f32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: region body yields 2 values, expected 1
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
    %c = arith.constant 0.0 : f32
    fused.yield %c, %c : f32, f32
  }
  func.return
}

// -----

// CHECK: fused.generic: combiner is "mean", expected one of add, mul, max, min, and, or
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceMean"(%x) {combiner = "mean", reduction = array<i64: 4>} : (tensor<4xf32>) -> tensor<f32> body(%r: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%r] : tensor<4xf32>
    fused.yield %v : f32
  } epilogue(%acc: f32, %t: tensor<4xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: epilogue is absent, expected one after a reduction
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceSum"(%x) {combiner = "add", reduction = array<i64: 4>} : (tensor<4xf32>) -> tensor<f32> body(%r: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%r] : tensor<4xf32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: has combiner, expected none without reduction extents
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceSum"(%x) {combiner = "add"} : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%i] : tensor<4xf32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: reduction extents are [4, -1], expected at least 0
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceSum"(%x) {combiner = "add", reduction = array<i64: 4, -1>} : (tensor<4xf32>) -> tensor<f32> body(%r: index, %s: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%r] : tensor<4xf32>
    fused.yield %v : f32
  } epilogue(%acc: f32, %t: tensor<4xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: combiner "or" needs integers, body yields f32
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceMax"(%x) {combiner = "or", reduction = array<i64: 4>} : (tensor<4xf32>) -> tensor<f32> body(%r: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%r] : tensor<4xf32>
    fused.yield %v : f32
  } epilogue(%acc: f32, %t: tensor<4xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: argument 0 of region epilogue has type f64, expected f32
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "ReduceSum"(%x) {combiner = "add", reduction = array<i64: 4>} : (tensor<4xf32>) -> tensor<f64> body(%r: index, %t: tensor<4xf32>) {
    %v = fused.load %t[%r] : tensor<4xf32>
    fused.yield %v : f32
  } epilogue(%acc: f64, %t: tensor<4xf32>) {
    fused.yield %acc : f64
  }
  func.return
}

// -----

// CHECK: fused.load: 1 indices for tensor<4x8xf32>, expected 2
func.func @main(%x: tensor<4x8xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i] : tensor<4x8xf32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.check_index: bound is -3, expected at least 0
func.func @main(%x: tensor<4xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
    %j = fused.check_index %i, -3
    %v = fused.load %t[%j] : tensor<4xf32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.generic: operand 0 has type tensor<?xf32>; shapes must be static at the fused level
func.func @main(%x: tensor<?xf32>) {
  %y = fused.generic "Relu"(%x) : (tensor<?xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<?xf32>) {
    %v = fused.load %t[%i] : tensor<?xf32>
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.matmul: b is [8, 5], expected it to end with [5, 8]
func.func @main(%a: tensor<3x8xf32>, %b: tensor<8x5xf32>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {transpose_b} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32> epilogue(%i: index, %j: index, %acc: f32, %ta: tensor<3x8xf32>, %tb: tensor<8x5xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.matmul: b is [2, 8, 4], expected it to end with [3, 8, 4]
func.func @main(%a: tensor<3x8xf32>, %b: tensor<2x8x4xf32>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {packed = 4 : i64} : (tensor<3x8xf32>, tensor<2x8x4xf32>) -> tensor<3x9xf32> epilogue(%i: index, %j: index, %acc: f32, %ta: tensor<3x8xf32>, %tb: tensor<2x8x4xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.matmul: batch dimensions [2] and [3] do not broadcast to [2]
func.func @main(%a: tensor<2x3x8xf32>, %b: tensor<3x8x5xf32>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) : (tensor<2x3x8xf32>, tensor<3x8x5xf32>) -> tensor<2x3x5xf32> epilogue(%n: index, %i: index, %j: index, %acc: f32, %ta: tensor<2x3x8xf32>, %tb: tensor<3x8x5xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.matmul: argument 2 of region epilogue has type f16, expected f32
func.func @main(%a: tensor<3x8xf16>, %b: tensor<8x5xf16>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) : (tensor<3x8xf16>, tensor<8x5xf16>) -> tensor<3x5xf16> epilogue(%i: index, %j: index, %acc: f16, %ta: tensor<3x8xf16>, %tb: tensor<8x5xf16>) {
    fused.yield %acc : f16
  }
  func.return
}

// -----

// CHECK: fused.matmul: a holds f32 and b holds f64, expected the same
func.func @main(%a: tensor<3x8xf32>, %b: tensor<8x5xf64>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) : (tensor<3x8xf32>, tensor<8x5xf64>) -> tensor<3x5xf32> epilogue(%i: index, %j: index, %acc: f32, %ta: tensor<3x8xf32>, %tb: tensor<8x5xf64>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.matmul: a holds i16 and b holds i8, expected the same{{$}}
func.func @main(%a: tensor<3x8xi16>, %b: tensor<8x5xi8>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) : (tensor<3x8xi16>, tensor<8x5xi8>) -> tensor<3x5xi32> epilogue(%i: index, %j: index, %acc: i32, %ta: tensor<3x8xi16>, %tb: tensor<8x5xi8>) {
    fused.yield %acc : i32
  }
  func.return
}

// -----

// CHECK: fused.matmul: a holds i16 and b holds ui8, expected the same, or i16 and i8
func.func @main(%a: tensor<3x8xi16>, %b: tensor<1x8x16xui8>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {packed = 16 : i64} : (tensor<3x8xi16>, tensor<1x8x16xui8>) -> tensor<3x5xi32> epilogue(%i: index, %j: index, %acc: i32, %ta: tensor<3x8xi16>, %tb: tensor<1x8x16xui8>) {
    fused.yield %acc : i32
  }
  func.return
}

// -----

// CHECK: fused.matmul: pairs of i16 in runs of 8, not packed; expected packed i16 in runs of an even number
func.func @main(%a: tensor<3x8xi16>, %b: tensor<8x5xi16>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {pairs} : (tensor<3x8xi16>, tensor<8x5xi16>) -> tensor<3x5xi32> epilogue(%i: index, %j: index, %acc: i32, %ta: tensor<3x8xi16>, %tb: tensor<8x5xi16>) {
    fused.yield %acc : i32
  }
  func.return
}

// -----

// CHECK: fused.matmul: pairs of i16 in runs of 7; expected packed i16 in runs of an even number
func.func @main(%a: tensor<3x7xi16>, %b: tensor<1x7x16xi8>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {packed = 16 : i64, pairs} : (tensor<3x7xi16>, tensor<1x7x16xi8>) -> tensor<3x5xi32> epilogue(%i: index, %j: index, %acc: i32, %ta: tensor<3x7xi16>, %tb: tensor<1x7x16xi8>) {
    fused.yield %acc : i32
  }
  func.return
}

// -----

// CHECK: fused.matmul: pairs of i32 in runs of 8; expected packed i16 in runs of an even number
func.func @main(%a: tensor<3x8xi32>, %b: tensor<1x8x16xi32>) {
  %0 = fused.matmul "MatMulV2"(%a, %b) {packed = 16 : i64, pairs} : (tensor<3x8xi32>, tensor<1x8x16xi32>) -> tensor<3x5xi32> epilogue(%i: index, %j: index, %acc: i32, %ta: tensor<3x8xi32>, %tb: tensor<1x8x16xi32>) {
    fused.yield %acc : i32
  }
  func.return
}

// -----

// CHECK: fused.conv: result is [1, 6, 5, 6], expected [1, 6, 4, 6]
func.func @main(%x: tensor<1x4x9x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = fused.conv "Conv2D"(%x, %w) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x9x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x5x6xf32> epilogue(%n: index, %c: index, %h: index, %v: index, %acc: f32, %tx: tensor<1x4x9x8xf32>, %tw: tensor<6x4x3x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.conv: w is [6, 4, 3, 3], expected [6, 2, 3, 3]
func.func @main(%x: tensor<1x4x9x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = fused.conv "Conv2D"(%x, %w) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x9x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x6xf32> epilogue(%n: index, %c: index, %h: index, %v: index, %acc: f32, %tx: tensor<1x4x9x8xf32>, %tw: tensor<6x4x3x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.conv: group is 3, expected a divisor of 4 input and 6 output channels
func.func @main(%x: tensor<1x4x9x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = fused.conv "Conv2D"(%x, %w) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64} : (tensor<1x4x9x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x6xf32> epilogue(%n: index, %c: index, %h: index, %v: index, %acc: f32, %tx: tensor<1x4x9x8xf32>, %tw: tensor<6x4x3x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// -----

// CHECK: fused.softmax: axis is 2, expected 0 to 1
func.func @main(%x: tensor<4x8xf32>) {
  %0 = fused.softmax "Softmax"(%x) {axis = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %v: f32, %t: tensor<4x8xf32>) {
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.norm: kind is "batch", expected one of layer, rms
func.func @main(%x: tensor<4x8xf32>) {
  %0 = fused.norm "BatchNorm"(%x) {axis = 1 : i64, epsilon = 1.0e-05 : f32, kind = "batch"} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %v: f32, %t: tensor<4x8xf32>) {
    fused.yield %v : f32
  }
  func.return
}

// -----

// CHECK: fused.norm: region prologue yields f16, expected f32
func.func @main(%x: tensor<4x8xf16>) {
  %0 = fused.norm "LayerNorm"(%x) {axis = 1 : i64, epsilon = 1.0e-05 : f32, kind = "layer"} : (tensor<4x8xf16>) -> tensor<4x8xf16> prologue(%i: index, %j: index, %t: tensor<4x8xf16>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf16>
    fused.yield %v : f16
  } epilogue(%i: index, %j: index, %v: f32, %t: tensor<4x8xf16>) {
    %w = arith.truncf %v : f32 to f16
    fused.yield %w : f16
  }
  func.return
}

// -----

// CHECK: fused.view: operand tensor<2x3xf32> has 6 elements, result tensor<7xf32> has 7
func.func @main(%x: tensor<2x3xf32>) {
  %0 = fused.view %x : tensor<2x3xf32> -> tensor<7xf32>
  func.return
}

// -----

// CHECK: fused.view: operand holds f32, result i32
func.func @main(%x: tensor<2x3xf32>) {
  %0 = fused.view %x : tensor<2x3xf32> -> tensor<6xi32>
  func.return
}

// -----

// CHECK: found 3 : i64, expected a dense or #ge.weight attribute
func.func @main() {
  %0 = fused.const 3 : i64
  func.return
}
