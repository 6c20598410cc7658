// RUN: gecc-opt %s --split-input-file -p tile-schedule | filecheck %s
// RUN: gecc-opt %s --split-input-file -p 'tile-schedule{sequential=true}' | filecheck %s --check-prefix SEQ

// Neighbours without a dependence share a phase, since both results are alive together anyway.
// CHECK-LABEL: func.func @side_by_side
// CHECK:         "Q" {{.*}} phase 0
// CHECK:         "K" {{.*}} phase 0
// CHECK:         "Add" {{.*}} phase 1
// SEQ-LABEL:   func.func @side_by_side
// SEQ:           "Q" {{.*}} phase 0
// SEQ:           "K" {{.*}} phase 1
// SEQ:           "Add" {{.*}} phase 2
func.func @side_by_side() {
  %x = tile.input 0 : memref<64xf32>
  %y = tile.output 0 : memref<64xf32>
  %q = tile.alloc bytes 256 align 64 : memref<64xf32>
  tile.launch @k "Q" ins(%x : memref<64xf32>) outs(%q : memref<64xf32>) params [] blocks 1 scratch 0 inplace []
  %k = tile.alloc bytes 256 align 64 : memref<64xf32>
  tile.launch @k "K" ins(%x : memref<64xf32>) outs(%k : memref<64xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @add "Add" ins(%q, %k : memref<64xf32>, memref<64xf32>) outs(%y : memref<64xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// Near miss: independent, but together they would need more memory than either before.
// "A" reads 4 units and makes 1, then "B" makes 4 again: 5 units at most in order, 9 side by side.
// CHECK-LABEL: func.func @would_grow
// CHECK:         "Big" {{.*}} phase 0
// CHECK:         "A" {{.*}} phase 1
// CHECK:         "B" {{.*}} phase 2
// CHECK:         "C" {{.*}} phase 3
func.func @would_grow() {
  %x = tile.input 0 : memref<64xf32>
  %y = tile.output 0 : memref<16xf32>
  %big = tile.alloc bytes 256 align 64 : memref<64xf32>
  tile.launch @k "Big" ins(%x : memref<64xf32>) outs(%big : memref<64xf32>) params [] blocks 1 scratch 0 inplace []
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%big : memref<64xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  %b = tile.alloc bytes 256 align 64 : memref<64xf32>
  tile.launch @k "B" ins(%x : memref<64xf32>) outs(%b : memref<64xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "C" ins(%a, %b : memref<16xf32>, memref<64xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// "B" could run beside "A", but then "A" could not take over %t in place, which "B" reads: 3 units instead of 2.
// CHECK-LABEL: func.func @inplace_lost
// CHECK:         "T" {{.*}} phase 0
// CHECK:         "B" {{.*}} phase 1
// CHECK:         "A" {{.*}} phase 2
// CHECK:         "C" {{.*}} phase 3
func.func @inplace_lost() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %t = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "T" ins(%x : memref<16xf32>) outs(%t : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  %b = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "B" ins(%t : memref<16xf32>) outs(%b : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%t : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0]
  tile.launch @k "C" ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// Dependences through views count, reading and writing output memory too.
// CHECK-LABEL: func.func @through_views
// CHECK:         "W" {{.*}} phase 0
// CHECK:         "R" {{.*}} phase 1
// CHECK:         "S" {{.*}} phase 2
// CHECK:         "T" {{.*}} phase 2
func.func @through_views() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %z = tile.output 1 : memref<8xf32>
  %u = tile.output 2 : memref<16xf32>
  %lower = tile.view %y offset 0 : memref<16xf32> -> memref<4x4xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "W" ins(%x : memref<16xf32>) outs(%lower : memref<4x4xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "R" ins(%y : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  %upper = tile.view %a offset 32 : memref<16xf32> -> memref<8xf32>
  tile.launch @k "S" ins(%upper : memref<8xf32>) outs(%z : memref<8xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "T" ins(%a : memref<16xf32>) outs(%u : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// Launches that write parts of one buffer, or read parts that others do not write, are independent; one byte in common is not.
// CHECK-LABEL: func.func @parts
// CHECK:         "A" {{.*}} phase 0
// CHECK:         "B" {{.*}} phase 0
// CHECK:         "C" {{.*}} phase 1
// CHECK:         "D" {{.*}} phase 2
func.func @parts() {
  %x = tile.input 0 : memref<8xf32>
  %y = tile.output 0 : memref<16xf32>
  %z = tile.output 1 : memref<8xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  %lower = tile.view %a offset 0 : memref<16xf32> -> memref<8xf32>
  %upper = tile.view %a offset 32 : memref<16xf32> -> memref<8xf32>
  %middle = tile.view %a offset 28 : memref<16xf32> -> memref<8xf32>
  tile.launch @k "A" ins(%x : memref<8xf32>) outs(%lower : memref<8xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "B" ins(%x : memref<8xf32>) outs(%upper : memref<8xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "C" ins(%middle : memref<8xf32>) outs(%z : memref<8xf32>) params [] blocks 1 scratch 0 inplace []
  %whole = tile.join %lower, %upper : memref<8xf32>, memref<8xf32> -> memref<16xf32>
  tile.launch @k "D" ins(%whole, %z : memref<16xf32>, memref<8xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    func.return
func.func @nothing() {
  func.return
}
