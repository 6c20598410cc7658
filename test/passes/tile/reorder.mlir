// RUN: gecc-opt %s -p tile-reorder | filecheck %s
// RUN: gecc-opt %s -p 'tile-reorder{effort=fast}' | filecheck %s --check-prefix=KEPT

// Each wide tensor is reduced before the next is made: two of 4096 bytes are never alive at once.
// CHECK-LABEL: func.func @depth_first
// CHECK-NEXT:    %a = tile.launch @k "Wide"
// CHECK-NEXT:    %v = tile.view %a
// CHECK-NEXT:    %c = tile.launch @k "Sum" ins(%v
// CHECK-NEXT:    %b = tile.launch @k "Wide"
// CHECK-NEXT:    %d = tile.launch @k "Sum" ins(%b
// CHECK-NEXT:    tile.launch @k "Add"
// KEPT-LABEL:  func.func @depth_first
// KEPT-NEXT:     %a = tile.launch @k "Wide"
// KEPT-NEXT:     %b = tile.launch @k "Wide"
func.func @depth_first(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tile.launch @k "Wide" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %b = tile.launch @k "Wide" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %v = tile.view %a offset 0 : tensor<1024xf32> -> tensor<2x512xf32>
  %c = tile.launch @k "Sum" ins(%v : tensor<2x512xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %d = tile.launch @k "Sum" ins(%b : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %e = tile.launch @k "Add" ins(%c, %d : tensor<8xf32>, tensor<8xf32>) params [] blocks 1 scratch 0 inplace [0, 1] -> tensor<8xf32>
  func.return %e : tensor<8xf32>
}

// An order that is as good as any is kept as it is, here since every launch needs what the one before made.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    "A"
// CHECK-NEXT:    "B"
// CHECK-NEXT:    func.return
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tile.launch @k "A" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %b = tile.launch @k "B" ins(%a : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// Graph outputs lie in the caller's memory: making both early costs the arena nothing, so the order stays.
// CHECK-LABEL: func.func @outputs
// CHECK-NEXT:    "A"
// CHECK-NEXT:    "B"
// CHECK-NEXT:    "C"
// CHECK-NEXT:    "D"
func.func @outputs(%x: tensor<8xf32>) -> (tensor<1024xf32>, tensor<1024xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = tile.launch @k "A" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %b = tile.launch @k "B" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %c = tile.launch @k "C" ins(%a : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %d = tile.launch @k "D" ins(%b : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  func.return %a, %b, %c, %d : tensor<1024xf32>, tensor<1024xf32>, tensor<8xf32>, tensor<8xf32>
}

// A join costs nothing and takes nothing over: with both parts made in place, 8192 bytes are alive at its end and 4096 before, so
// the wide tensor of "Big" goes between the parts. The join comes before its first use.
// CHECK-LABEL: func.func @joined
// CHECK-NEXT:    "P"
// CHECK-NEXT:    "Big"
// CHECK-NEXT:    "Sum"
// CHECK-NEXT:    "Q"
// CHECK-NEXT:    tile.join %p, %q :
// CHECK-NEXT:    "Use"
func.func @joined(%x: tensor<8xf32>) -> tensor<8xf32> {
  %p = tile.launch @k "P" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %q = tile.launch @k "Q" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %big = tile.launch @k "Big" ins(%p : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %j = tile.join %p, %q : tensor<1024xf32>, tensor<1024xf32> -> tensor<2048xf32>
  %s = tile.launch @k "Sum" ins(%big : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %u = tile.launch @k "Use" ins(%j, %s : tensor<2048xf32>, tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  func.return %u : tensor<8xf32>
}

// A part that is copied is made twice: of 8192 bytes in "P" and its copy one half dies at the join, which must come before "Big".
// CHECK-LABEL: func.func @copied
// CHECK:         "P"
// CHECK-NEXT:    tile.join %p copied :
// CHECK-NEXT:    "Sum"
// CHECK-NEXT:    "Big"
func.func @copied(%x: tensor<8xf32>) -> tensor<8xf32> {
  %p = tile.launch @k "P" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1024xf32>
  %big = tile.launch @k "Big" ins(%x : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<2048xf32>
  %j = tile.join %p copied : tensor<1024xf32> -> tensor<1024xf32>
  %s = tile.launch @k "Sum" ins(%j : tensor<1024xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %u = tile.launch @k "Use" ins(%big, %s : tensor<2048xf32>, tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  func.return %u : tensor<8xf32>
}
