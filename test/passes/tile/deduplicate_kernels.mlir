// RUN: gecc-opt %s --split-input-file -p tile-deduplicate-kernels | filecheck %s

// Equal bodies share the first symbol, whatever their values are called and whatever sizes they are launched with.
// CHECK-NOT:     tile.kernel @relu_1
// CHECK:         tile.kernel @relu(
// CHECK-NOT:     tile.kernel @relu_1
// CHECK:         tile.launch @relu "Relu" ins(%x : tensor<4xf32>) params [4]
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%a : tensor<4xf32>) params [2]
tile.kernel @relu(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %c = arith.constant 0.0 : f32
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    %m = arith.maximumf %v, %c : f32
    tile.store %m, %y[%i] : memref<?xf32>
  }
}
tile.kernel @relu_1(%in: memref<?xf32>, %out: memref<?xf32>, %count: index, %b: index) {
  %low = arith.constant 0 : index
  %nothing = arith.constant 0.0 : f32
  tile.lanes %lane = %low to %count {
    %value = tile.load %in[%lane] : memref<?xf32>
    %most = arith.maximumf %value, %nothing : f32
    tile.store %most, %out[%lane] : memref<?xf32>
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tile.launch @relu "Relu" ins(%x : tensor<4xf32>) params [4] blocks 1 scratch 0 inplace [0] -> tensor<4xf32>
  %b = tile.launch @relu_1 "Relu" ins(%a : tensor<4xf32>) params [2] blocks 1 scratch 0 inplace [0] -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----
// Near misses stay apart: another constant, another operation, another element type. What nothing launches goes.
// CHECK-NOT:     tile.kernel @unused
// CHECK:         tile.kernel @one(
// CHECK:         tile.kernel @two(
// CHECK:         tile.kernel @most(
// CHECK:         tile.kernel @wide(
// CHECK-NOT:     tile.kernel @unused
// CHECK:         tile.launch @one
// CHECK-NEXT:    tile.launch @two
// CHECK-NEXT:    tile.launch @most
// CHECK-NEXT:    tile.launch @wide
tile.kernel @unused(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf32>
  tile.store %v, %y[%block] : memref<?xf32>
}
tile.kernel @one(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
  %c = arith.constant 1.0 : f32
  %v = tile.load %x[%block] : memref<?xf32>
  %m = arith.addf %v, %c : f32
  tile.store %m, %y[%block] : memref<?xf32>
}
tile.kernel @two(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
  %c = arith.constant 2.0 : f32
  %v = tile.load %x[%block] : memref<?xf32>
  %m = arith.addf %v, %c : f32
  tile.store %m, %y[%block] : memref<?xf32>
}
tile.kernel @most(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
  %c = arith.constant 1.0 : f32
  %v = tile.load %x[%block] : memref<?xf32>
  %m = arith.maximumf %v, %c : f32
  tile.store %m, %y[%block] : memref<?xf32>
}
tile.kernel @wide(%x: memref<?xf64>, %y: memref<?xf64>, %block: index) {
  %c = arith.constant 1.0 : f64
  %v = tile.load %x[%block] : memref<?xf64>
  %m = arith.addf %v, %c : f64
  tile.store %m, %y[%block] : memref<?xf64>
}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf64>) {
  %a = tile.launch @one "A" ins(%x : tensor<4xf32>) params [] blocks 4 scratch 0 inplace [] -> tensor<4xf32>
  %b = tile.launch @two "A" ins(%x : tensor<4xf32>) params [] blocks 4 scratch 0 inplace [] -> tensor<4xf32>
  %c = tile.launch @most "A" ins(%x : tensor<4xf32>) params [] blocks 4 scratch 0 inplace [] -> tensor<4xf32>
  %d = tile.launch @wide "A" ins(%w : tensor<4xf64>) params [] blocks 4 scratch 0 inplace [] -> tensor<4xf64>
  func.return
}
