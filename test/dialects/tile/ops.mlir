// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// CHECK:        tile.kernel @row(%x: memref<?xf32>, %i: memref<?xi64>, %y: memref<?xf32>, %n: index, %block: index) {
// CHECK-NEXT:     %zero = arith.constant 0 : index
// CHECK-NEXT:     %one = arith.constant 1 : index
// CHECK-NEXT:     %s = tile.scratch %zero : memref<?xf32>
// CHECK-NEXT:     scf.for %j = %zero to %n step %one {
// CHECK-NEXT:       %k = tile.load %i[%j] : memref<?xi64>
// CHECK-NEXT:       %at = arith.index_cast %k : i64 to index
// CHECK-NEXT:       %checked = tile.check_index %at in %n
// CHECK-NEXT:       %v = tile.load %x[%checked] : memref<?xf32>
// CHECK-NEXT:       tile.store %v, %s[%j] : memref<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %sum, %top = tile.lanes %j_1 = %zero to %n reduce("add" %c : f32, "max" %c : f32) {
// CHECK-NEXT:       %v_1 = tile.load %s[%j_1] : memref<?xf32>
// CHECK-NEXT:       tile.yield %v_1, %v_1 : f32, f32
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.lanes %j_2 = %zero to %n {
// CHECK-NEXT:       %v_2 = tile.load %s[%j_2] : memref<?xf32>
// CHECK-NEXT:       %w = arith.divf %v_2, %sum : f32
// CHECK-NEXT:       tile.store %w, %y[%j_2] : memref<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.kernel @product(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
// CHECK-NEXT:     %zero = arith.constant 0 : index
// CHECK-NEXT:     %one = arith.constant 1 : index
// CHECK-NEXT:     %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %fill = tile.fill %c : f32 to vector<6x64xf32>
// CHECK-NEXT:     %acc = tile.mma %fill, %a[%zero], %b[%zero] rows %n depth %n outer(%one by %zero, %one by %zero) : vector<6x64xf32>
// CHECK-NEXT:     %more = tile.mma %acc, %a[%zero], %b[%zero] rows %n depth %n outer(%n by %n, %n by %one) ahead %n lines 3 : vector<6x64xf32>
// CHECK-NEXT:     tile.store_tile %more, %y[%zero] rows %n columns %n (%v: f32, %r: index, %k: index) {
// CHECK-NEXT:       %w = arith.maximumf %v, %c : f32
// CHECK-NEXT:       tile.yield %w : f32
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
// CHECK-NEXT:     %w = tile.weight dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT:     %y = tile.launch @row "Relu" ins(%x, %w : tensor<4x8xf32>, tensor<2xf32>) params [1, 2] blocks 3 scratch 64 inplace [0] -> tensor<4x8xf32>
// CHECK-NEXT:     %v = tile.view %y offset 0 : tensor<4x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %j = tile.join %w, %v : tensor<2xf32>, tensor<32xf32> -> tensor<34xf32>
// CHECK-NEXT:     %k = tile.join %j copied : tensor<34xf32> -> tensor<2x17xf32>
// CHECK-NEXT:     func.return %v : tensor<32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.func @buffers() {
// CHECK-NEXT:     %x = tile.input 0 : memref<4xf32>
// CHECK-NEXT:     %y = tile.output 0 : memref<2xf32>
// CHECK-NEXT:     %a = tile.alloc bytes 16 align 64 : memref<4xf32>
// CHECK-NEXT:     %b = tile.alloc bytes 16 align 16 offset 32 : memref<4xf32>
// CHECK-NEXT:     %v = tile.view %b offset 8 : memref<4xf32> -> memref<2xf32>
// CHECK-NEXT:     %j = tile.join %b, %v : memref<4xf32>, memref<2xf32> -> memref<6xf32>
// CHECK-NEXT:     tile.launch @k "A" ins() outs(%a, %b : memref<4xf32>, memref<4xf32>) params [] blocks 0 scratch 0 inplace [] phase 7
// CHECK-NEXT:     tile.launch @k "B" ins(%x, %v : memref<4xf32>, memref<2xf32>) outs(%y : memref<2xf32>) params [] blocks 1 scratch 0 inplace []
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }

tile.kernel @row(%x: memref<?xf32>, %i: memref<?xi64>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = tile.scratch %zero : memref<?xf32>
  scf.for %j = %zero to %n step %one {
    %k = tile.load %i[%j] : memref<?xi64>
    %at = arith.index_cast %k : i64 to index
    %checked = tile.check_index %at in %n
    %v = tile.load %x[%checked] : memref<?xf32>
    tile.store %v, %s[%j] : memref<?xf32>
  }
  %c = arith.constant 0.0 : f32
  %sum, %top = tile.lanes %j = %zero to %n reduce("add" %c : f32, "max" %c : f32) {
    %v = tile.load %s[%j] : memref<?xf32>
    tile.yield %v, %v : f32, f32
  }
  tile.lanes %j = %zero to %n {
    %v = tile.load %s[%j] : memref<?xf32>
    %w = arith.divf %v, %sum : f32
    tile.store %w, %y[%j] : memref<?xf32>
  }
}
tile.kernel @product(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %fill = tile.fill %c : f32 to vector<6x64xf32>
  %acc = tile.mma %fill, %a[%zero], %b[%zero] rows %n depth %n outer(%one by %zero, %one by %zero) : vector<6x64xf32>
  %more = tile.mma %acc, %a[%zero], %b[%zero] rows %n depth %n outer(%n by %n, %n by %one) ahead %n lines 3 : vector<6x64xf32>
  tile.store_tile %more, %y[%zero] rows %n columns %n (%v: f32, %r: index, %k: index) {
    %w = arith.maximumf %v, %c : f32
    tile.yield %w : f32
  }
}
func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %w = tile.weight dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %y = tile.launch @row "Relu" ins(%x, %w : tensor<4x8xf32>, tensor<2xf32>) params [1, 2] blocks 3 scratch 64 inplace [0] -> tensor<4x8xf32>
  %v = tile.view %y offset 0 : tensor<4x8xf32> -> tensor<32xf32>
  %j = tile.join %w, %v : tensor<2xf32>, tensor<32xf32> -> tensor<34xf32>
  %k = tile.join %j copied : tensor<34xf32> -> tensor<2x17xf32>
  func.return %v : tensor<32xf32>
}
func.func @buffers() {
  %x = tile.input 0 : memref<4xf32>
  %y = tile.output 0 : memref<2xf32>
  %a = tile.alloc bytes 16 align 64 : memref<4xf32>
  %b = tile.alloc bytes 16 align 16 offset 32 : memref<4xf32>
  %v = tile.view %b offset 8 : memref<4xf32> -> memref<2xf32>
  %j = tile.join %b, %v : memref<4xf32>, memref<2xf32> -> memref<6xf32>
  tile.launch @k "A" ins() outs(%a, %b : memref<4xf32>, memref<4xf32>) params [] blocks 0 scratch 0 inplace [] phase 7
  tile.launch @k "B" ins(%x, %v : memref<4xf32>, memref<2xf32>) outs(%y : memref<2xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}
