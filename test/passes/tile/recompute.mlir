// RUN: gecc-opt %s -p tile-recompute | filecheck %s

tile.kernel @cheap(%x: memref<?xf32>, %y: memref<?xf32>, %b: index) {
  tile.return
}

// %a is alive, and not used, while B runs with both its tensors: it is computed again for C.
// CHECK-LABEL: func.func @again
// CHECK-NEXT:    %a = tile.launch @cheap "Mul" ins(%x
// CHECK-NEXT:    %b = tile.launch @cheap "A" ins(%a
// CHECK-NEXT:    %c = tile.launch @cheap "B" ins(%b
// CHECK-NEXT:    %[[A:.*]] = tile.launch @cheap "Mul" ins(%x
// CHECK-NEXT:    %d = tile.launch @cheap "C" ins(%c, %[[A]] :
// CHECK-NEXT:    func.return %d
func.func @again(%x: tensor<64xf32>) -> tensor<4xf32> {
  %a = tile.launch @cheap "Mul" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %b = tile.launch @cheap "A" ins(%a : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %c = tile.launch @cheap "B" ins(%b : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %d = tile.launch @cheap "C" ins(%c, %a : tensor<1024xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// Near misses: a buffer that the launch at the peak uses itself; one whose operand would have to live as long; one that is
// a graph output, and so takes no byte of the arena.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: tile.launch
// CHECK-NOT:     tile.launch
// CHECK:         func.return
func.func @kept(%x: tensor<64xf32>) -> tensor<4xf32> {
  %a = tile.launch @cheap "Mul" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %b = tile.launch @cheap "A" ins(%a : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %c = tile.launch @cheap "B" ins(%b, %a : tensor<1024xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %d = tile.launch @cheap "C" ins(%c, %a : tensor<1024xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// CHECK-LABEL: func.func @output
// CHECK-COUNT-4: tile.launch
// CHECK-NOT:     tile.launch
// CHECK:         func.return
func.func @output(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<4xf32>) {
  %a = tile.launch @cheap "Mul" ins(%x : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %b = tile.launch @cheap "A" ins(%a : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %c = tile.launch @cheap "B" ins(%b : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %d = tile.launch @cheap "C" ins(%c, %a : tensor<1024xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  func.return %a, %d : tensor<64xf32>, tensor<4xf32>
}
