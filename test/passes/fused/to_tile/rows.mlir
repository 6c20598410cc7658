// RUN: gecc-opt %s --split-input-file -p 'fused-to-tile{target="x86-64-v4"}' | filecheck %s

// Three passes over a row: its maximum, the sum of exponentials, which wait in the result, and the results.
// CHECK-LABEL: tile.kernel @Softmax(
// CHECK:         scf.for
// CHECK:           [[TOP:%[0-9]+]] = tile.lanes {{.*}} reduce("max"
// CHECK:           [[SUM:%[0-9]+]] = tile.lanes {{.*}} reduce("add"
// CHECK:             arith.subf {{.*}}, [[TOP]] : f32
// CHECK:             [[EXP:%[0-9]+]] = math.exp
// CHECK:             tile.store [[EXP]], %1[
// CHECK-NEXT:        tile.yield [[EXP]] : f32
// CHECK:           [[SCALE:%[0-9]+]] = arith.divf {{.*}}, [[SUM]] : f32
// CHECK:           tile.lanes
// CHECK-NOT:         tile.load %0
// CHECK:             [[KEPT:%[0-9]+]] = tile.load %1[
// CHECK-NEXT:        [[Y:%[0-9]+]] = arith.mulf [[KEPT]], [[SCALE]] : f32
// CHECK-NEXT:        tile.store [[Y]], %1[
// CHECK:         tile.launch @Softmax {{.*}} inplace [0]
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.softmax "Softmax"(%x) {axis = 1 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    fused.yield %s : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// Where rows are strided, lanes run across them, and the passes are loops inside.
// CHECK-LABEL: tile.kernel @Across(
// CHECK-NOT:     reduce(
// CHECK:         tile.lanes
// CHECK:           [[TOP:%[0-9]+]] = scf.for
// CHECK:             arith.maximumf
// CHECK:           scf.for
// CHECK:             math.exp
// CHECK:             tile.store
// CHECK:           scf.for
// CHECK-NOT:         math.exp
// CHECK:             tile.store
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.softmax "Across"(%x) {axis = 0 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    fused.yield %s : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// The logarithm shifts by the logarithm of the sum instead of dividing.
// CHECK-LABEL: tile.kernel @LogSoftmax(
// CHECK:         [[LOG:%[0-9]+]] = math.log
// CHECK-NEXT:    arith.addf {{.*}}, [[LOG]] : f32
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.softmax "LogSoftmax"(%x) {axis = 1 : i64, log} : (tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    fused.yield %s : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// All dimensions are one row here, and "rms" subtracts no mean; its length is a parameter.
// CHECK-LABEL: tile.kernel @RMSNorm(%0: memref<?xf32>, %1: memref<?xf32>, %extent: index, %length: index,
// CHECK:         arith.sitofp
// CHECK:         tile.lanes {{.*}} reduce("add"
// CHECK-NOT:     arith.subf
// CHECK:         math.sqrt
// CHECK:         tile.lanes
// CHECK-NOT:     arith.subf
// CHECK:         tile.launch @RMSNorm "RMSNorm" ins(%x : tensor<6x40xf32>) params [240, 240, 1] blocks 1
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.norm "RMSNorm"(%x) {axis = 0 : i64, epsilon = 0.00001 : f64, kind = "rms"} : (tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    fused.yield %s : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// CHECK-LABEL: tile.kernel @LayerNorm(
// CHECK-COUNT-2: reduce("add"
// CHECK:         math.sqrt
// CHECK:         arith.subf
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.norm "LayerNorm"(%x) {axis = 1 : i64, epsilon = 0.00001 : f64, kind = "layer"} : (tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    fused.yield %s : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// A row is written in the last pass, each element after it was read: what is read at that element alone may be overwritten,
// a row of factors may not, nor what is read at another element of the row.
// What the epilogue reads may be the result's memory, so nothing waits there.
// CHECK-LABEL: tile.kernel @Scaled(
// CHECK-COUNT-2: math.exp
// CHECK:         tile.launch @Scaled {{.*}} inplace [1]
func.func @main(%r: tensor<40xf32>, %x: tensor<6x40xf32>, %m: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %y = fused.softmax "Scaled"(%r, %x, %m) {axis = 1 : i64} : (tensor<40xf32>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> prologue(%i: index, %j: index, %f: tensor<40xf32>, %t: tensor<6x40xf32>, %u: tensor<6x40xf32>) {
    %last = arith.constant 39 : index
    %k = arith.subi %last, %j : index
    %a = fused.load %t[%i, %j] : tensor<6x40xf32>
    %b = fused.load %u[%i, %k] : tensor<6x40xf32>
    %v = arith.addf %a, %b : f32
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %f: tensor<40xf32>, %t: tensor<6x40xf32>, %u: tensor<6x40xf32>) {
    %g = fused.load %f[%j] : tensor<40xf32>
    %v = arith.mulf %s, %g : f32
    fused.yield %v : f32
  }
  func.return %y : tensor<6x40xf32>
}

// -----
// The same element, but half its size in the result: writing one would overwrite others.
// CHECK-LABEL: tile.kernel @Narrow(
// CHECK:         tile.launch @Narrow {{.*}} inplace []
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf16> {
  %y = fused.norm "Narrow"(%x) {axis = 1 : i64, epsilon = 0.00001 : f64, kind = "layer"} : (tensor<6x40xf32>) -> tensor<6x40xf16> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    %v = arith.truncf %s : f32 to f16
    fused.yield %v : f16
  }
  func.return %y : tensor<6x40xf16>
}

// -----
// A result of f16 would round what waits in it, so that the exponentials are computed again.
// CHECK-LABEL: tile.kernel @NarrowSoftmax(
// CHECK-COUNT-2: math.exp
// CHECK:         tile.launch @NarrowSoftmax
func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf16> {
  %y = fused.softmax "NarrowSoftmax"(%x) {axis = 1 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf16> prologue(%i: index, %j: index, %t: tensor<6x40xf32>) {
    %v = fused.load %t[%i, %j] : tensor<6x40xf32>
    fused.yield %v : f32
  } epilogue(%i: index, %j: index, %s: f32, %t: tensor<6x40xf32>) {
    %v = arith.truncf %s : f32 to f16
    fused.yield %v : f16
  }
  func.return %y : tensor<6x40xf16>
}
