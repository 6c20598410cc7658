// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p 'tile-to-om{target="x86-64-v4"}' | filecheck %s

// Launches become tasks with places in memory, phases are divided by events; equal weights are stored once; views cost
// no task but are nodes of the graph, with an offset of their own.
// CHECK:         tile.kernel @k(
// CHECK:         om.model "main" target "x86-64-v4" abi {{[0-9]+}} arena 192 scratch 256 producer "gecc"
// CHECK-NEXT:      [[X:%.*]] = om.input "image" : tensor<4x4xf32>
// CHECK-NEXT:      [[W:%.*]] = om.weight "weight_0" at 512 "ND" dense<{{.*}}> : tensor<4xf32> : tensor<4xf32>
// CHECK-NEXT:      [[A:%.*]] = om.node "Add" "Add"([[X]], [[W]] : tensor<4x4xf32>, tensor<4xf32>) onnx [] places [#om.mem<arena, 128, 64>] -> tensor<4x4xf32>
// CHECK-NEXT:      [[V:%.*]] = om.node "Reshape" "view_1"([[A]] : tensor<4x4xf32>) onnx [] places [#om.mem<arena, 128, 64>] -> tensor<16xf32>
// CHECK-NEXT:      [[H:%.*]] = om.node "Slice" "view_2"([[V]] : tensor<16xf32>) onnx [] places [#om.mem<arena, 160, 32>] -> tensor<8xf32>
// CHECK-NEXT:      [[Y:%.*]] = om.node "Mul" "Mul"([[V]], [[H]], [[W]] : tensor<16xf32>, tensor<8xf32>, tensor<4xf32>) onnx [] places [#om.mem<output 0, 0, 64>] -> tensor<16xf32>
// CHECK-NEXT:      om.output "score" : tensor<16xf32> = [[Y]] : tensor<16xf32>
// CHECK-NEXT:      om.kernel "k" "Add" node 0 blocks 2 ins [#om.mem<input 0, 0, 64>, #om.mem<weights, 512, 16>] outs [#om.mem<arena, 128, 64>] params [16, 64]
// CHECK-NEXT:      om.event_record 0
// CHECK-NEXT:      om.event_wait 0
// CHECK-NEXT:      om.kernel "k" "Mul" node 3 blocks 1 ins [#om.mem<arena, 128, 64>, #om.mem<arena, 160, 32>, #om.mem<weights, 512, 16>] outs [#om.mem<output 0, 0, 64>] params []
// CHECK-NEXT:    }
builtin.module attributes {tile.memory = {arena = 192 : i64, sum = 64 : i64}} {
tile.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
}
func.func @main() attributes {ge.input_names = ["image"], ge.output_names = ["score"]} {
  %x = tile.input 0 : memref<4x4xf32>
  %y = tile.output 0 : memref<16xf32>
  %w = tile.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> memref<4xf32>
  %w2 = tile.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> memref<4xf32>
  %a = tile.alloc bytes 64 align 64 offset 128 : memref<4x4xf32>
  tile.launch @k "Add" ins(%x, %w : memref<4x4xf32>, memref<4xf32>) outs(%a : memref<4x4xf32>) params [16, 64] blocks 2 scratch 256 inplace [] phase 0
  %v = tile.view %a offset 0 : memref<4x4xf32> -> memref<16xf32>
  %half = tile.view %v offset 32 : memref<16xf32> -> memref<8xf32>
  tile.launch @k "Mul" ins(%v, %half, %w2 : memref<16xf32>, memref<8xf32>, memref<4xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 64 inplace [] phase 1
  func.return
}
}

// -----
// Names are made up where the graph has none, and two launches of one phase have no event between them.
// CHECK:         om.input "input_0"
// CHECK:         om.output "output_1" : tensor<4xf32> = %2
// CHECK:         om.kernel "k" "A" node 0
// CHECK-NEXT:    om.kernel "k" "A" node 1
func.func @main() {
  %x = tile.input 0 : memref<4xf32>
  %y = tile.output 0 : memref<4xf32>
  %z = tile.output 1 : memref<4xf32>
  tile.launch @k "A" ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  tile.launch @k "A" ins(%x : memref<4xf32>) outs(%z : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}

// -----
// CHECK: a tile.launch has no phase
// CHECK: hint: run tile-schedule first
func.func @main() {
  %x = tile.input 0 : memref<4xf32>
  %y = tile.output 0 : memref<4xf32>
  tile.launch @k "Relu" ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----
// A join is a node without a task; what reads the buffer reads the join, and so does the output that lies in one.
// CHECK:         [[A:%.*]] = om.node "A" "A"{{.*}} places [#om.mem<arena, 0, 16>]
// CHECK:         [[B:%.*]] = om.node "B" "B"{{.*}} places [#om.mem<arena, 16, 16>]
// CHECK:         [[J:%.*]] = om.node "Concat" "view_{{.*}}"([[A]], [[B]] : tensor<4xf32>, tensor<4xf32>) onnx [] places [#om.mem<arena, 0, 32>] -> tensor<8xf32>
// CHECK:         [[C:%.*]] = om.node "C" "C"([[J]] : tensor<8xf32>) onnx [] places [#om.mem<output 0, 0, 16>]
// CHECK:         [[D:%.*]] = om.node "D" "D"([[J]] : tensor<8xf32>) onnx [] places [#om.mem<output 0, 16, 16>]
// CHECK:         [[Y:%.*]] = om.node "Concat" "view_{{.*}}"([[C]], [[D]] : tensor<4xf32>, tensor<4xf32>) onnx [] places [#om.mem<output 0, 0, 32>]
// CHECK:         om.output "out_0" : tensor<8xf32> = [[Y]] : tensor<8xf32>
// CHECK-NOT:     om.kernel {{.*}} "Concat"
builtin.module attributes {tile.memory = {arena = 64 : i64, sum = 64 : i64}} {
tile.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
}
func.func @main() attributes {ge.output_names = ["out_0"]} {
  %x = tile.input 0 : memref<4xf32>
  %y = tile.output 0 : memref<8xf32>
  %a = tile.alloc bytes 32 align 64 offset 0 : memref<8xf32>
  %p = tile.view %a offset 0 : memref<8xf32> -> memref<4xf32>
  %q = tile.view %a offset 16 : memref<8xf32> -> memref<4xf32>
  tile.launch @k "A" ins(%x : memref<4xf32>) outs(%p : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  tile.launch @k "B" ins(%x : memref<4xf32>) outs(%q : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %j = tile.join %p, %q : memref<4xf32>, memref<4xf32> -> memref<8xf32>
  %lower = tile.view %y offset 0 : memref<8xf32> -> memref<4xf32>
  %upper = tile.view %y offset 16 : memref<8xf32> -> memref<4xf32>
  tile.launch @k "C" ins(%j : memref<8xf32>) outs(%lower : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 1
  tile.launch @k "D" ins(%j : memref<8xf32>) outs(%upper : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 1
  %o = tile.join %lower, %upper : memref<4xf32>, memref<4xf32> -> memref<8xf32>
  func.return
}
}

// -----
// CHECK: a tile.alloc has no offset
// CHECK: hint: run tile-allocate-buffers first
func.func @main() {
  %a = tile.alloc bytes 16 align 64 : memref<4xf32>
  func.return
}

// -----
// CHECK: the module has 2 functions, expected one
func.func @one() {
  func.return
}
func.func @two() {
  func.return
}

// -----
// The om is verified as a whole: a buffer must lie in the arena.
// CHECK: 64 bytes at 128 do not fit the 64 of ARENA
builtin.module attributes {tile.memory = {arena = 64 : i64, sum = 64 : i64}} {
tile.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %block: index) {
}
func.func @main() attributes {ge.input_names = ["image"], ge.output_names = ["score"]} {
  %x = tile.input 0 : memref<4x4xf32>
  %y = tile.output 0 : memref<16xf32>
  %w = tile.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> memref<4xf32>
  %w2 = tile.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> memref<4xf32>
  %a = tile.alloc bytes 64 align 64 offset 128 : memref<4x4xf32>
  tile.launch @k "Add" ins(%x, %w : memref<4x4xf32>, memref<4xf32>) outs(%a : memref<4x4xf32>) params [16, 64] blocks 2 scratch 256 inplace [] phase 0
  %v = tile.view %a offset 0 : memref<4x4xf32> -> memref<16xf32>
  %half = tile.view %v offset 32 : memref<16xf32> -> memref<8xf32>
  tile.launch @k "Mul" ins(%v, %half, %w2 : memref<16xf32>, memref<8xf32>, memref<4xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 64 inplace [] phase 1
  func.return
}
}
