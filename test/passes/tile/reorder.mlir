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
