// RUN: gecc-opt %s --split-input-file -p tile-bufferize | filecheck %s
// RUN: gecc-opt %s --split-input-file -p tile-bufferize,tile-schedule,tile-allocate-buffers | filecheck %s --check-prefix PLAN

// Both branches write the memory of the results, here an output.
// CHECK-LABEL: func.func @branch
// CHECK:         %y = tile.output 0
// CHECK-NEXT:    tile.switch %c [0, 1] : memref<i1>
// CHECK-NEXT:    tile.label 1
// CHECK-NEXT:    tile.launch @k "A" ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
// CHECK-NEXT:    tile.goto 2
// CHECK-NEXT:    tile.label 0
// CHECK-NEXT:    "Copy" ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
// CHECK-NEXT:    tile.label 2
// PLAN-LABEL:  func.func @branch
// PLAN:          tile.switch %c [0, 1] phase 0 : memref<i1>
// PLAN-NEXT:     tile.label 1 phase 1
// PLAN-NEXT:     "A" {{.*}} phase 2
// PLAN-NEXT:     tile.goto 2 phase 3
// PLAN-NEXT:     tile.label 0 phase 4
// PLAN-NEXT:     "Copy" {{.*}} phase 5
// PLAN-NEXT:     tile.label 2 phase 6
func.func @branch(%x: tensor<64xf32>, %c: tensor<i1>) -> tensor<64xf32> {
  %y = tile.if %c : tensor<i1> -> tensor<64xf32> {
    %a = tile.launch @k "A" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  } else {
    tile.yield %x : tensor<64xf32>
  }
  func.return %y : tensor<64xf32>
}

// -----

// "B" reads the old value last and may write over it, so it writes the carried buffer itself. The row is written behind
// its maker. What the loop reads from before it lives as long as the loop.
// CHECK-LABEL: func.func @direct
// CHECK:         %y = tile.output 0
// CHECK-NEXT:    %all = tile.output 1
// CHECK-NEXT:    %w = tile.alloc
// CHECK-NEXT:    "W" {{.*}} outs(%w
// CHECK:         %[[N:.*]] = tile.alloc bytes 8
// CHECK-NEXT:    "Copy" ins(%n : memref<i64>) outs(%[[N]] : memref<i64>)
// CHECK-NEXT:    "Copy" ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
// CHECK-NEXT:    tile.switch %c [1, 0] : memref<i1>
// CHECK-NEXT:    tile.label 0
// CHECK-NEXT:    %a = tile.alloc
// CHECK-NEXT:    "A" ins(%y, %w : {{.*}}) outs(%a : memref<64xf32>)
// CHECK-NEXT:    "Row" ins(%[[N]], %a : memref<i64>, memref<64xf32>) outs(%all : memref<9x64xf32>)
// CHECK-NEXT:    "B" ins(%a, %y : {{.*}}) outs(%y : memref<64xf32>)
// CHECK-NEXT:    "N" ins(%[[N]] : memref<i64>) outs(%[[N]] : memref<i64>)
// CHECK-NEXT:    tile.switch %c [1, 0] : memref<i1>
// CHECK-NEXT:    tile.label 1
// PLAN-LABEL:  func.func @direct
// PLAN:          %w = tile.alloc bytes 256 align 64 offset 0 :
// PLAN:          %a = tile.alloc bytes 256 align 64 offset 256 :
func.func @direct(%x: tensor<64xf32>, %n: tensor<i64>, %c: tensor<i1>) -> (tensor<64xf32>, tensor<9x64xf32>) {
  %w = tile.launch @k "W" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %m, %y, %all = tile.while %c : tensor<i1> init(%n, %x : tensor<i64>, tensor<64xf32>) -> tensor<i64>, tensor<64xf32>, tensor<9x64xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<64xf32>):
    %a = tile.launch @k "A" ins(%h, %w : tensor<64xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [0, 1] -> tensor<64xf32>
    %b = tile.launch @k "B" ins(%a, %h : tensor<64xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [1] -> tensor<64xf32>
    %j = tile.launch @n "N" ins(%i : tensor<i64>) params [] blocks 1 scratch 0 inplace [0] -> tensor<i64>
    tile.yield %c, %j, %b, %a : tensor<i1>, tensor<i64>, tensor<64xf32>, tensor<64xf32>
  }
  func.return %y, %all : tensor<64xf32>, tensor<9x64xf32>
}

// -----

// Near misses: "B" may not write over what it reads, and "A" is read again behind "C"; both are copied at the end.
// CHECK-LABEL: func.func @copied
// CHECK:         %y = tile.output 0
// CHECK-NEXT:    %z = tile.output 1
// CHECK:         tile.label 0
// CHECK:         "B" ins(%y : {{.*}}) outs(%b
// CHECK:         "C" ins(%b : {{.*}}) outs(%q
// CHECK:         "D" ins(%z : {{.*}}) outs(%d
// CHECK-NEXT:    "Copy" ins(%b : memref<64xf32>) outs(%y : memref<64xf32>)
// CHECK-NEXT:    "Copy" ins(%q : memref<64xf32>) outs(%z : memref<64xf32>)
// CHECK-NEXT:    tile.switch %d
func.func @copied(%x: tensor<64xf32>, %c: tensor<i1>) -> (tensor<64xf32>, tensor<64xf32>) {
  %y, %z = tile.while %c : tensor<i1> init(%x, %x : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>, tensor<64xf32> {
  ^bb0(%h: tensor<64xf32>, %g: tensor<64xf32>):
    %b = tile.launch @k "B" ins(%h : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
    %q = tile.launch @k "C" ins(%b : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
    %d = tile.launch @t "D" ins(%g : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<i1>
    tile.yield %d, %b, %q : tensor<i1>, tensor<64xf32>, tensor<64xf32>
  }
  func.return %y, %z : tensor<64xf32>, tensor<64xf32>
}

// -----

// Two values change places: one is kept aside.
// CHECK-LABEL: func.func @swapped
// CHECK:         tile.label 0
// CHECK-NEXT:    %[[T:.*]] = tile.alloc bytes 256
// CHECK-NEXT:    "Copy" ins(%z : memref<64xf32>) outs(%[[T]] : memref<64xf32>)
// CHECK-NEXT:    "Copy" ins(%y : memref<64xf32>) outs(%z : memref<64xf32>)
// CHECK-NEXT:    "Copy" ins(%[[T]] : memref<64xf32>) outs(%y : memref<64xf32>)
// CHECK-NEXT:    tile.switch %c [1, 0] : memref<i1>
func.func @swapped(%x: tensor<64xf32>, %w: tensor<64xf32>, %c: tensor<i1>) -> (tensor<64xf32>, tensor<64xf32>) {
  %y, %z = tile.while %c : tensor<i1> init(%x, %w : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>, tensor<64xf32> {
  ^bb0(%h: tensor<64xf32>, %g: tensor<64xf32>):
    tile.yield %c, %g, %h : tensor<i1>, tensor<64xf32>, tensor<64xf32>
  }
  func.return %y, %z : tensor<64xf32>, tensor<64xf32>
}

// -----

// No buffer of before the loop that the loop reads is taken over in it, though "B" is its last reader in the text.
// PLAN-LABEL:  func.func @kept
// PLAN:          %w = tile.alloc bytes 256 align 64 offset 256 :
// PLAN:          %b = tile.alloc bytes 256 align 64 offset 512 :
// PLAN:          tile.label 1
// PLAN-NEXT:     %v = tile.alloc bytes 256 align 64 offset 256 :
func.func @kept(%x: tensor<64xf32>, %c: tensor<i1>) -> tensor<64xf32> {
  %w = tile.launch @k "W" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %y = tile.while %c : tensor<i1> init(%x : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%h: tensor<64xf32>):
    %b = tile.launch @k "B" ins(%w : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [0] -> tensor<64xf32>
    %d = tile.launch @k "D" ins(%b, %h : tensor<64xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
    tile.yield %c, %d : tensor<i1>, tensor<64xf32>
  }
  %v = tile.launch @k "V" ins(%y : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %z = tile.launch @k "Z" ins(%v : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  func.return %z : tensor<64xf32>
}
