// RUN: gecc-opt %s --split-input-file -p 'fused-to-tile{target="x86-64-v4"}' | filecheck %s

// A contiguous pointwise operation is one loop over lanes, split into blocks at multiples of 64; its memory may become
// the result's. Broadcasting keeps two loops, and the small operand is read by lane.
// CHECK-LABEL: tile.kernel @Relu(%0: memref<?xf32>, %1: memref<?xf32>, %extent: index, %chunk: index,
// CHECK-NOT:     scf.for
// CHECK:         tile.lanes [[I:%[0-9]+]] =
// CHECK:           tile.load %0{{\[}}[[I]]{{\]}}
// CHECK:           tile.store {{.*}}, %1{{\[}}[[I]]{{\]}}
// CHECK-LABEL: tile.kernel @Add(
// CHECK:         scf.for
// CHECK:           tile.lanes [[J:%[0-9]+]] =
// CHECK:             tile.load %1{{\[}}[[J]]{{\]}}
// CHECK:         tile.launch @Relu "Relu" ins(%x : tensor<4x8xf32>) params [32, 64] blocks 1 scratch 0 inplace [0]
// CHECK:         tile.launch @Add "Add" ins(%y, %b : tensor<4x8xf32>, tensor<8xf32>) params [{{.*}}] blocks 1 scratch 0 inplace [0]
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    %c = arith.constant 0.0 : f32
    %m = arith.maximumf %v, %c : f32
    fused.yield %m : f32
  }
  %z = fused.generic "Add"(%y, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> body(%i: index, %j: index, %t: tensor<4x8xf32>, %u: tensor<8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<4x8xf32>
    %w = fused.load %u[%j] : tensor<8xf32>
    %m = arith.addf %v, %w : f32
    fused.yield %m : f32
  }
  func.return %z : tensor<4x8xf32>
}

// -----
// A transposed read is no place to write: other elements are read later from there.
// CHECK-LABEL: tile.kernel @Transpose(
// CHECK:         tile.launch @Transpose {{.*}} inplace [] -> tensor<8x4xf32>
func.func @main(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %y = fused.generic "Transpose"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32> body(%i: index, %j: index, %t: tensor<4x8xf32>) {
    %v = fused.load %t[%j, %i] : tensor<4x8xf32>
    fused.yield %v : f32
  }
  func.return %y : tensor<8x4xf32>
}

// -----
// An index from memory is checked against the extent it indexes, which is a parameter.
// CHECK-LABEL: tile.kernel @Gather(
// CHECK:         [[AT:%.*]] = arith.index_cast {{.*}} : i64 to index
// CHECK-NEXT:    [[OK:%.*]] = tile.check_index [[AT]] in %bound
// CHECK-NEXT:    arith.muli [[OK]], %stride
func.func @main(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %y = fused.generic "Gather"(%x, %i) : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32> body(%r: index, %j: index, %t: tensor<4x8xf32>, %u: tensor<3xi64>) {
    %k = fused.load %u[%r] : tensor<3xi64>
    %at = arith.index_cast %k : i64 to index
    %ok = fused.check_index %at, 4
    %v = fused.load %t[%ok, %j] : tensor<4x8xf32>
    fused.yield %v : f32
  }
  func.return %y : tensor<3x8xf32>
}

// -----
// Nothing to compute: no blocks, and a kernel without a body.
// CHECK-LABEL: tile.kernel @Relu(%0: memref<?xf32>, %1: memref<?xf32>, %2: index) {
// CHECK-NEXT:  }
// CHECK:         tile.launch @Relu "Relu" ins(%x : tensor<0x8xf32>) params [] blocks 0
func.func @main(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %y = fused.generic "Relu"(%x) : (tensor<0x8xf32>) -> tensor<0x8xf32> body(%i: index, %j: index, %t: tensor<0x8xf32>) {
    %v = fused.load %t[%i, %j] : tensor<0x8xf32>
    fused.yield %v : f32
  }
  func.return %y : tensor<0x8xf32>
}

// -----
// Lanes run over the result where that is contiguous, and each keeps its own sum over a strided reduction.
// CHECK-LABEL: tile.kernel @ColumnSum(
// CHECK:         tile.lanes [[J:%[0-9]+]] = %{{[0-9]+}} to %{{[0-9]+}} {
// CHECK:           [[SUM:%[0-9]+]] = scf.for
// CHECK:             arith.addf
// CHECK:           tile.store [[SUM]], %1{{\[}}[[J]]{{\]}}
func.func @main(%x: tensor<50x64xf32>) -> tensor<64xf32> {
  %y = fused.generic "ColumnSum"(%x) {combiner = "add", reduction = array<i64: 50>} : (tensor<50x64xf32>) -> tensor<64xf32> body(%j: index, %k: index, %t: tensor<50x64xf32>) {
    %v = fused.load %t[%k, %j] : tensor<50x64xf32>
    fused.yield %v : f32
  } epilogue(%j: index, %a: f32, %t: tensor<50x64xf32>) {
    fused.yield %a : f32
  }
  func.return %y : tensor<64xf32>
}

// -----
// Along a contiguous reduction lanes reduce; a constant and a view cost no kernel.
// CHECK-LABEL: tile.kernel @RowMax(
// CHECK:         arith.constant 0xff800000 : f32
// CHECK:         tile.lanes {{.*}} reduce("max"
// CHECK:         [[W:%.*]] = tile.weight dense<1.000000e+00> : tensor<4x64xf32> -> tensor<4x64xf32>
// CHECK-NEXT:    [[V:%.*]] = tile.view [[W]] offset 0 : tensor<4x64xf32> -> tensor<2x128xf32>
// CHECK-NEXT:    tile.launch @RowMax "RowMax" ins([[V]] : tensor<2x128xf32>)
func.func @main() -> tensor<2xf32> {
  %w = fused.const dense<1.0> : tensor<4x64xf32>
  %x = fused.view %w : tensor<4x64xf32> -> tensor<2x128xf32>
  %y = fused.generic "RowMax"(%x) {combiner = "max", reduction = array<i64: 128>} : (tensor<2x128xf32>) -> tensor<2xf32> body(%j: index, %k: index, %t: tensor<2x128xf32>) {
    %v = fused.load %t[%j, %k] : tensor<2x128xf32>
    fused.yield %v : f32
  } epilogue(%j: index, %a: f32, %t: tensor<2x128xf32>) {
    fused.yield %a : f32
  }
  func.return %y : tensor<2xf32>
}

// -----
// Lanes that gather from as many cache lines go a tile far, then around the loop along which those lines lie, then on.
// CHECK-LABEL: tile.kernel @Turn(
// CHECK:         [[TILE:%[0-9]+]] = arith.constant 32 : index
// CHECK:         scf.for [[START:%[0-9]+]] = {{.*}} step [[TILE]] {
// CHECK:           [[END:%[0-9]+]] = arith.minsi
// CHECK:           scf.for
// CHECK:             tile.lanes {{%[0-9]+}} = [[START]] to [[END]] {
func.func @main(%x: tensor<90x70xf32>) -> tensor<70x90xf32> {
  %y = fused.generic "Turn"(%x) : (tensor<90x70xf32>) -> tensor<70x90xf32> body(%i: index, %j: index, %t: tensor<90x70xf32>) {
    %v = fused.load %t[%j, %i] : tensor<90x70xf32>
    fused.yield %v : f32
  }
  func.return %y : tensor<70x90xf32>
}

// -----
// Near misses: lanes no longer than a tile; elements of which several lie in a line; lines that no loop goes along.
// CHECK-LABEL: tile.kernel @Short(
// CHECK-NOT:     arith.constant 32
// CHECK-LABEL: tile.kernel @Near(
// CHECK-NOT:     arith.constant 32
// CHECK-LABEL: tile.kernel @Column(
// CHECK-NOT:     arith.constant 32
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<32x70xf32>, %z: tensor<90x9xf32>, %u: tensor<64x70xf32>) -> (tensor<70x32xf32>, tensor<9x90xf32>, tensor<4x64xf32>) {
  %y = fused.generic "Short"(%x) : (tensor<32x70xf32>) -> tensor<70x32xf32> body(%i: index, %j: index, %t: tensor<32x70xf32>) {
    %v = fused.load %t[%j, %i] : tensor<32x70xf32>
    fused.yield %v : f32
  }
  %n = fused.generic "Near"(%z) : (tensor<90x9xf32>) -> tensor<9x90xf32> body(%i: index, %j: index, %t: tensor<90x9xf32>) {
    %v = fused.load %t[%j, %i] : tensor<90x9xf32>
    fused.yield %v : f32
  }
  %c = fused.generic "Column"(%u) : (tensor<64x70xf32>) -> tensor<4x64xf32> body(%i: index, %j: index, %t: tensor<64x70xf32>) {
    %k = arith.constant 3 : index
    %v = fused.load %t[%j, %k] : tensor<64x70xf32>
    fused.yield %v : f32
  }
  func.return %y, %n, %c : tensor<70x32xf32>, tensor<9x90xf32>, tensor<4x64xf32>
}
