// RUN: gecc-opt %s -p tile-schedule | filecheck %s
// RUN: gecc-opt %s -p 'tile-schedule{slack=100}' | filecheck %s --check-prefix=SLACK

// S and B are independent, but %a and %b would be alive at once: twice the bytes of the sequential order. Given a slack of
// 100 percent they share a phase.
// CHECK-LABEL: func.func @main
// CHECK:         "A" {{.*}} phase 0
// CHECK-NEXT:    "S" {{.*}} phase 1
// CHECK-NEXT:    "B" {{.*}} phase 2
// CHECK-NEXT:    "T" {{.*}} phase 3
// SLACK:         "A" {{.*}} phase 0
// SLACK-NEXT:    "S" {{.*}} phase 1
// SLACK-NEXT:    "B" {{.*}} phase 1
// SLACK-NEXT:    "T" {{.*}} phase 2
func.func @main() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %z = tile.output 1 : memref<16xf32>
  %a = tile.alloc bytes 4096 align 64 : memref<1024xf32>
  %b = tile.alloc bytes 4096 align 64 : memref<1024xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<1024xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "S" ins(%a : memref<1024xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "B" ins(%x : memref<16xf32>) outs(%b : memref<1024xf32>) params [] blocks 1 scratch 0 inplace []
  tile.launch @k "T" ins(%b : memref<1024xf32>) outs(%z : memref<16xf32>) params [] blocks 1 scratch 0 inplace []
  func.return
}
