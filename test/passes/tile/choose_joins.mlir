// RUN: gecc-opt %s --split-input-file -p tile-choose-joins | filecheck %s
// RUN: gecc-opt %s --split-input-file -p tile-choose-joins,tile-bufferize,tile-schedule,tile-allocate-buffers | filecheck %s --check-prefix=PLAN

// Side by side in the join the three tensors leave holes beside the others, and no plan is at the bound: 1216 bytes. Copied, as
// this join may be, they take 1024.
// CHECK-LABEL: func.func @rigid
// CHECK:         tile.join %c, %b, %a copied :
// PLAN: {tile.memory = {arena = 1024 : i64
func.func @rigid(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = tile.launch @k "A" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<32xf32>
  %b = tile.launch @k "B" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<48xf32>
  %c = tile.launch @k "C" ins(%b : tensor<48xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<32xf32>
  %j = tile.join %c, %b, %a : tensor<32xf32>, tensor<48xf32>, tensor<32xf32> -> tensor<112xf32>
  %d = tile.launch @k "D" ins(%b : tensor<48xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<96xf32>
  %e = tile.launch @k "E" ins(%c, %a : tensor<32xf32>, tensor<32xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<96xf32>
  %y = tile.launch @k "Y" ins(%d, %e : tensor<96xf32>, tensor<96xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

// -----

// At the bound nothing else is tried: with copies it would be higher.
// CHECK-LABEL: func.func @fits
// CHECK:         tile.join %a, %b : tensor<32xf32>, tensor<48xf32>
// PLAN: {tile.memory = {arena = 320 : i64, lower_bound = 320 : i64
func.func @fits(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = tile.launch @k "A" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<32xf32>
  %b = tile.launch @k "B" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<48xf32>
  %j = tile.join %a, %b : tensor<32xf32>, tensor<48xf32> -> tensor<80xf32>
  %y = tile.launch @k "Y" ins(%j : tensor<80xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

// -----

// Without a part that could lie in its place nothing is planned, and nothing needs to be static.
// CHECK-LABEL: func.func @inputs
// CHECK:         tile.join %x, %x : tensor<16xf32>, tensor<16xf32>
func.func @inputs(%x: tensor<16xf32>) -> tensor<32xf32> {
  %j = tile.join %x, %x : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>
  func.return %j : tensor<32xf32>
}

// -----

// D would write over what it reads. In the join it cannot, since its part lies at byte 32 of it and buffers start at multiples
// of 64: that plan is at its bound, and yet larger, 1600 bytes beside 1408.
// CHECK-LABEL: func.func @in_place
// CHECK:         tile.join %p, %d copied :
// PLAN: {tile.memory = {arena = 1408 : i64
func.func @in_place(%x: tensor<16xf32>) -> tensor<16xf32> {
  %p = tile.launch @k "P" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %a = tile.launch @k "A" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<64xf32>
  %b = tile.launch @k "B" ins(%x, %a : tensor<16xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<256xf32>
  %d = tile.launch @k "D" ins(%a : tensor<64xf32>) params [] blocks 1 scratch 0 inplace [0] -> tensor<64xf32>
  %e = tile.launch @k "E" ins(%b, %d : tensor<256xf32>, tensor<64xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  %j = tile.join %p, %d : tensor<8xf32>, tensor<64xf32> -> tensor<72xf32>
  %y = tile.launch @k "Y" ins(%j, %e : tensor<72xf32>, tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
