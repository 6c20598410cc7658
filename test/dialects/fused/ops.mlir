// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Constants and views, with and without a layout.
// CHECK-LABEL: func.func @storage
// CHECK-NEXT:    %c = fused.const dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %w = fused.const #ge.weight<"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", tensor<64x64xf32>>
// CHECK-NEXT:    %v = fused.view %x : tensor<1x6x1x1xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %l = fused.view %x : tensor<1x6x1x1xf32> -> tensor<1x6x1x1xf32, #ge.layout<NHWC>>
func.func @storage(%x: tensor<1x6x1x1xf32>) {
  %c = fused.const dense<[1.0, 2.0]> : tensor<2xf32>
  %w = fused.const #ge.weight<"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", tensor<64x64xf32>>
  %v = fused.view %x : tensor<1x6x1x1xf32> -> tensor<2x3xf32>
  %l = fused.view %x : tensor<1x6x1x1xf32> -> tensor<1x6x1x1xf32, #ge.layout<NHWC>>
  func.return
}

// A scalar region of rank 0, an attribute that is not a property, a discardable attribute on a load.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT:    %y = fused.generic "Neg"(%x) {tiling = {rows = 4 : i64}, note = "kept"} : (tensor<f32>) -> tensor<f32> body(%t: tensor<f32>) {
// CHECK-NEXT:      %v = fused.load %t[] {hot} : tensor<f32>
// CHECK-NEXT:      %n = arith.negf %v : f32
// CHECK-NEXT:      fused.yield %n : f32
// CHECK-NEXT:    }
func.func @scalar(%x: tensor<f32>) {
  %y = fused.generic "Neg"(%x) {note = "kept", tiling = {rows = 4 : i64}} : (tensor<f32>) -> tensor<f32> body(%t: tensor<f32>) {
    %v = fused.load %t[] {hot} : tensor<f32>
    %n = arith.negf %v : f32
    fused.yield %n : f32
  }
  func.return
}

// A reduction with an epilogue; names of the function are free again inside regions; unsigned elements load signless.
// CHECK-LABEL: func.func @reduction
// CHECK-NEXT:    %y = fused.generic "GatherReduceMax"(%x, %i) {combiner = "max", reduction = array<i64: 4>} : (tensor<3x4xui8>, tensor<5xi64>) -> tensor<5xui8> body(%d: index, %r: index, %t: tensor<3x4xui8>, %p: tensor<5xi64>) {
// CHECK-NEXT:      %k = fused.load %p[%d] : tensor<5xi64>
// CHECK-NEXT:      %j = arith.index_cast %k : i64 to index
// CHECK-NEXT:      %c = fused.check_index %j, 3
// CHECK-NEXT:      %v = fused.load %t[%c, %r] : tensor<3x4xui8>
// CHECK-NEXT:      %w = arith.extui %v : i8 to i32
// CHECK-NEXT:      fused.yield %w : i32
// CHECK-NEXT:    } epilogue(%{{.*}}: index, %acc: i32, %{{.*}}: tensor<3x4xui8>, %{{.*}}: tensor<5xi64>) {
// CHECK-NEXT:      %{{.*}} = arith.trunci %acc : i32 to i8
// CHECK-NEXT:      fused.yield %{{.*}} : i8
// CHECK-NEXT:    }
func.func @reduction(%x: tensor<3x4xui8>, %i: tensor<5xi64>) {
  %y = fused.generic "GatherReduceMax"(%x, %i) {combiner = "max", reduction = array<i64: 4>} : (tensor<3x4xui8>, tensor<5xi64>) -> tensor<5xui8> body(%d: index, %r: index, %t: tensor<3x4xui8>, %p: tensor<5xi64>) {
    %k = fused.load %p[%d] : tensor<5xi64>
    %j = arith.index_cast %k : i64 to index
    %c = fused.check_index %j, 3
    %v = fused.load %t[%c, %r] : tensor<3x4xui8>
    %w = arith.extui %v : i8 to i32
    fused.yield %w : i32
  } epilogue(%d: index, %acc: i32, %x: tensor<3x4xui8>, %i: tensor<5xi64>) {
    %v = arith.trunci %acc : i32 to i8
    fused.yield %v : i8
  }
  func.return
}

// Matrix products: batches that broadcast, a transposed and a packed right side, f16 summed in f32.
// CHECK-LABEL: func.func @matmul
// CHECK-NEXT:    %0 = fused.matmul "MatMulV2"(%a, %b, %e) {transpose_b} : (tensor<2x3x8xf16>, tensor<5x8xf16>, tensor<5xf16>) -> tensor<2x3x5xf32> epilogue(%i: index, %j: index, %k: index, %acc: f32, %ta: tensor<2x3x8xf16>, %tb: tensor<5x8xf16>, %te: tensor<5xf16>) {
// CHECK-NEXT:      %v = fused.load %te[%k] : tensor<5xf16>
// CHECK-NEXT:      %w = arith.extf %v : f16 to f32
// CHECK-NEXT:      %s = arith.addf %acc, %w : f32
// CHECK-NEXT:      fused.yield %s : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.matmul "MatMulV2"(%a, %p) {packed = 4 : i64} : (tensor<2x3x8xf16>, tensor<2x8x4xf16>) -> tensor<2x3x5xf32> epilogue(
// CHECK-NEXT:      fused.yield %{{.*}} : f32
// CHECK-NEXT:    }
func.func @matmul(%a: tensor<2x3x8xf16>, %b: tensor<5x8xf16>, %e: tensor<5xf16>, %p: tensor<2x8x4xf16>) {
  %0 = fused.matmul "MatMulV2"(%a, %b, %e) {transpose_b} : (tensor<2x3x8xf16>, tensor<5x8xf16>, tensor<5xf16>) -> tensor<2x3x5xf32> epilogue(%i: index, %j: index, %k: index, %acc: f32, %ta: tensor<2x3x8xf16>, %tb: tensor<5x8xf16>, %te: tensor<5xf16>) {
    %v = fused.load %te[%k] : tensor<5xf16>
    %w = arith.extf %v : f16 to f32
    %s = arith.addf %acc, %w : f32
    fused.yield %s : f32
  }
  %1 = fused.matmul "MatMulV2"(%a, %p) {packed = 4 : i64} : (tensor<2x3x8xf16>, tensor<2x8x4xf16>) -> tensor<2x3x5xf32> epilogue(%i: index, %j: index, %k: index, %acc: f32, %ta: tensor<2x3x8xf16>, %tb: tensor<2x8x4xf16>) {
    fused.yield %acc : f32
  }
  func.return
}

// A grouped convolution with packed weights in NHWC.
// CHECK-LABEL: func.func @conv
// CHECK-NEXT:    %0 = fused.conv "Conv2D"(%x, %w) {dilations = array<i64: 1, 2>, group = 2 : i64, kernel = array<i64: 3, 2>, packed = 8 : i64, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x9x8xf32, #ge.layout<NHWC>>, tensor<2x1x12x8xf32>) -> tensor<1x6x5x6xf32, #ge.layout<NHWC>> epilogue(
func.func @conv(%x: tensor<1x4x9x8xf32, #ge.layout<NHWC>>, %w: tensor<2x1x12x8xf32>) {
  %0 = fused.conv "Conv2D"(%x, %w) {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 2>, group = 2 : i64, packed = 8 : i64} : (tensor<1x4x9x8xf32, #ge.layout<NHWC>>, tensor<2x1x12x8xf32>) -> tensor<1x6x5x6xf32, #ge.layout<NHWC>> epilogue(%n: index, %c: index, %h: index, %v: index, %acc: f32, %tx: tensor<1x4x9x8xf32, #ge.layout<NHWC>>, %tw: tensor<2x1x12x8xf32>) {
    fused.yield %acc : f32
  }
  func.return
}

// Row operations: a prologue and an epilogue each.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    %0 = fused.softmax "LogSoftmax"(%x) {axis = 0 : i64, log} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(%i: index, %j: index, %t: tensor<4x8xf32>) {
// CHECK-NEXT:      %v = fused.load %t[%i, %j] : tensor<4x8xf32>
// CHECK-NEXT:      fused.yield %v : f32
// CHECK-NEXT:    } epilogue(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: tensor<4x8xf32>) {
// CHECK-NEXT:      fused.yield %{{.*}} : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = fused.norm "RMSNorm"(%x) {axis = 1 : i64, epsilon = 1.000000e-05 : f32, kind = "rms"} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(
func.func @rows(%x: tensor<4x8xf32>) {
  %0 = fused.softmax "LogSoftmax"(%x) {axis = 0 : i64, log} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %v: f32, %t: tensor<4x8xf32>) {
    fused.yield %v : f32
  }
  %1 = fused.norm "RMSNorm"(%x) {axis = 1 : i64, epsilon = 1.0e-05 : f32, kind = "rms"} : (tensor<4x8xf32>) -> tensor<4x8xf32> prologue(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %v: f32, %t: tensor<4x8xf32>) {
    fused.yield %v : f32
  }
  func.return
}
