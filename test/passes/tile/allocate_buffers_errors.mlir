// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p tile-allocate-buffers | filecheck %s

// CHECK: the launch has no phase
// CHECK: in tile.launch 'A'
// CHECK: hint: run tile-schedule first
func.func @no_phase() {
  %x = tile.input 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// CHECK: touches memory that 'A' writes in the same phase
// CHECK: in tile.launch 'B'
func.func @dependent() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  tile.launch @k "B" ins(%a : memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}

// -----

// CHECK: the launch is in phase 2, expected 0 or 1
func.func @hole() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  tile.launch @k "B" ins(%a : memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  func.return
}

// -----

// CHECK: the launch writes tile.input, which is read-only
func.func @writes_input() {
  %x = tile.input 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%a : memref<16xf32>) outs(%x : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}

// -----

// CHECK: 'A' is a launch on tensors
// CHECK: hint: run tile-bufferize first
func.func @tensors(%x: tensor<16xf32>) {
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  %0 = tile.launch @k "A" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  func.return
}

// -----

// CHECK: tile.join of memory that does not lie one behind the other: 32 bytes from byte 16 after 32 from byte 0
// CHECK: hint: tile-bufferize gives the parts their places
func.func @overlap() {
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  %lower = tile.view %a offset 0 : memref<16xf32> -> memref<8xf32>
  %upper = tile.view %a offset 16 : memref<16xf32> -> memref<8xf32>
  %j = tile.join %lower, %upper : memref<8xf32>, memref<8xf32> -> memref<16xf32>
  tile.launch @k "A" ins(%j : memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}

// -----

// CHECK: touches memory that 'B' writes in the same phase, expected the launches of a phase to be independent
func.func @parts_of_one_phase() {
  %x = tile.input 0 : memref<8xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  %lower = tile.view %a offset 0 : memref<16xf32> -> memref<8xf32>
  %upper = tile.view %a offset 28 : memref<16xf32> -> memref<8xf32>
  tile.launch @k "A" ins(%x : memref<8xf32>) outs(%lower : memref<8xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  tile.launch @k "B" ins(%x : memref<8xf32>) outs(%upper : memref<8xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}
