// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: tile.kernel @k: memory parameter 1 after an index
tile.kernel @k(%n: index, %x: memref<?xf32>, %b: index) {
}

// -----
// CHECK: tile.kernel @k: parameter 0 must be flat (memref<?xT>), got memref<4xf32>
tile.kernel @k(%x: memref<4xf32>, %b: index) {
}

// -----
// CHECK: tile.kernel @k: parameter 0 must be a memref or index, got f32
tile.kernel @k(%x: f32, %b: index) {
}

// -----
// CHECK: tile.kernel @k: the last parameter, the block number, is missing
tile.kernel @k(%x: memref<?xf32>) {
}

// -----
// CHECK: tile.store: the memory holds f32, the value is i32
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0 : i32
  tile.store %c, %x[%b] : memref<?xf32>
}

// -----
// CHECK: tile.load: the memory holds f32, the value is i32
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %v = "tile.load"(%x, %b) : (memref<?xf32>, index) -> i32
}

// -----
// CHECK: tile.lanes: the body takes one index, got []
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  "tile.lanes"(%b, %b) <{combiners = []}> ({
    tile.yield
  }) : (index, index) -> ()
}

// -----
// CHECK: tile.lanes: unknown combiner 'sum', expected one of add, mul, max, min, and, or
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %s = tile.lanes %i = %b to %b reduce("sum" %c : f32) {
    tile.yield %c : f32
  }
}

// -----
// CHECK: tile.lanes: 2 combiners, 1 initial values and 1 results must be equally many
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %s = "tile.lanes"(%b, %b, %c) <{combiners = ["add", "add"]}> ({
  ^bb0(%i: index):
    tile.yield %c : f32
  }) : (index, index, f32) -> f32
}

// -----
// CHECK: tile.lanes: yields ['index'], results are ['f32']
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %s = tile.lanes %i = %b to %b reduce("add" %c : f32) {
    tile.yield %i : index
  }
}

// -----
// CHECK: tile.fill: the scalar is i32, the tile vector<6x64xf32>
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0 : i32
  %t = tile.fill %c : i32 to vector<6x64xf32>
}

// -----
// CHECK: tile.fill: a register tile is a vector of rank 2, got vector<64xf32>
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<64xf32>
}

// -----
// CHECK: tile.mma: accumulator vector<6x64xf32>, result vector<6x32xf32>
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<6x64xf32>
  %u = "tile.mma"(%t, %x, %b, %x, %b, %b, %b, %b, %b, %b, %b) <{lines = 0}> : (vector<6x64xf32>, memref<?xf32>, index, memref<?xf32>, index, index, index, index, index, index, index) -> vector<6x32xf32>
}

// -----
// CHECK: tile.mma: pairs of f32, expected i16
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<6x64xf32>
  %u = tile.mma %t, %x[%b], %x[%b] rows %b depth %b outer(%b by %b, %b by %b) pairs : vector<6x64xf32>
}

// -----
// CHECK: tile.mma: lines = 2, expected a positive number with an offset to prefetch and 0 without
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<6x64xf32>
  %u = "tile.mma"(%t, %x, %b, %x, %b, %b, %b, %b, %b, %b, %b) <{lines = 2}> : (vector<6x64xf32>, memref<?xf32>, index, memref<?xf32>, index, index, index, index, index, index, index) -> vector<6x64xf32>
}

// -----
// CHECK: tile.store_tile: the epilogue takes ['f32', 'index', 'index'], got ['f32', 'index']
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<6x64xf32>
  tile.store_tile %t, %x[%b] rows %b columns %b (%v: f32, %r: index) {
    tile.yield %v : f32
  }
}

// -----
// CHECK: tile.store_tile: the epilogue must yield one f32
tile.kernel @k(%x: memref<?xf32>, %b: index) {
  %c = arith.constant 0.0 : f32
  %t = tile.fill %c : f32 to vector<6x64xf32>
  tile.store_tile %t, %x[%b] rows %b columns %b (%v: f32, %r: index, %k: index) {
    tile.yield %r : index
  }
}

// -----
// CHECK: tile.launch @k 'K': has 0 results and 0 output memrefs, expected one kind
func.func @main(%x: tensor<4xf32>) {
  tile.launch @k "K" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----
// CHECK: tile.launch @k 'K': blocks = -1 and scratch = 0 must not be negative
func.func @main(%x: tensor<4xf32>) {
  %y = tile.launch @k "K" ins(%x : tensor<4xf32>) params [] blocks -1 scratch 0 inplace [] -> tensor<4xf32>
  func.return
}

// -----
// CHECK: tile.launch @k 'K': inplace names input 1, there are 1
func.func @main(%x: tensor<4xf32>) {
  %y = tile.launch @k "K" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [1] -> tensor<4xf32>
  func.return
}

// -----
// CHECK: tile.launch @k 'K': input tensor<4xf32> does not fit a launch on memrefs
func.func @main(%x: tensor<4xf32>) {
  %a = tile.alloc bytes 16 align 64 : memref<4xf32>
  tile.launch @k "K" ins(%x : tensor<4xf32>) outs(%a : memref<4xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----
// CHECK: tile.view: from tensor<4xf32> to memref<4xf32>: both must be tensors or memrefs
func.func @main(%x: tensor<4xf32>) {
  %v = tile.view %x offset 0 : tensor<4xf32> -> memref<4xf32>
  func.return
}

// -----
// CHECK: tile.view: offset -4 must not be negative
func.func @main(%x: tensor<4xf32>) {
  %v = tile.view %x offset -4 : tensor<4xf32> -> tensor<3xf32>
  func.return
}

// -----
// CHECK: tile.alloc: bytes = -1 must not be negative
func.func @main() {
  %a = tile.alloc bytes -1 align 64 : memref<4xf32>
  func.return
}

// -----
// CHECK: tile.alloc: alignment = 48 must be a power of two
func.func @main() {
  %a = tile.alloc bytes 16 align 48 : memref<4xf32>
  func.return
}

// -----
// CHECK: tile.alloc: offset = 32 must be a non-negative multiple of 64
func.func @main() {
  %a = tile.alloc bytes 16 align 64 offset 32 : memref<4xf32>
  func.return
}

// -----
// CHECK: tile.join: no parts, expected at least one
func.func @main() {
  %j = "tile.join"() : () -> tensor<0xf32>
  func.return
}

// -----
// CHECK: tile.join: tensor<4xf32>, memref<4xf32>, tensor<8xf32>: all must be tensors or all memrefs
func.func @main(%x: tensor<4xf32>, %y: memref<4xf32>) {
  %j = tile.join %x, %y : tensor<4xf32>, memref<4xf32> -> tensor<8xf32>
  func.return
}

// -----
// CHECK: tile.join: tensor<4xf32>, tensor<4xi32>, tensor<8xf32>: all must have the same elements
func.func @main(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %j = tile.join %x, %y : tensor<4xf32>, tensor<4xi32> -> tensor<8xf32>
  func.return
}

// -----
// CHECK: tile.join: tensor<?xf32>, tensor<8xf32>: the shapes must be static
func.func @main(%x: tensor<?xf32>) {
  %j = tile.join %x : tensor<?xf32> -> tensor<8xf32>
  func.return
}

// -----
// CHECK: tile.join: parts of 7 elements, expected the 8 of tensor<8xf32>
func.func @main(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %j = tile.join %x, %y : tensor<4xf32>, tensor<3xf32> -> tensor<8xf32>
  func.return
}
