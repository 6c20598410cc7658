// RUN: gecc-opt %s --split-input-file -p tile-allocate-buffers | filecheck %s
// RUN: gecc-opt %s --split-input-file -p 'tile-allocate-buffers{disable-reuse=true}' | filecheck %s --check-prefix ALONE

// %c may use the bytes of %a, which is dead by then; %b is alive beside both.
// CHECK: builtin.module attributes {tile.memory = {arena = 128 : i64, lower_bound = 128 : i64, sum = 192 : i64, buffers = 3 : i64, inplace = 0 : i64
// CHECK:         %a = tile.alloc bytes 64 align 64 offset 0 : memref<16xf32>
// CHECK:         %b = tile.alloc bytes 60 align 64 offset 64 : memref<15xf32>
// CHECK:         %c = tile.alloc bytes 64 align 64 offset 0 : memref<16xf32>
// ALONE: builtin.module attributes {tile.memory = {arena = 192 : i64, lower_bound = 192 : i64, sum = 192 : i64, buffers = 3 : i64, inplace = 0 : i64, method = "no reuse"}}
// ALONE:         %a = tile.alloc bytes 64 align 64 offset 0
// ALONE:         %b = tile.alloc bytes 60 align 64 offset 64
// ALONE:         %c = tile.alloc bytes 64 align 64 offset 128
func.func @reuse() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %b = tile.alloc bytes 60 align 64 : memref<15xf32>
  tile.launch @k "B" ins(%a : memref<16xf32>) outs(%b : memref<15xf32>) params [] blocks 1 scratch 0 inplace [] phase 1
  %c = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "C" ins(%b : memref<15xf32>) outs(%c : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  tile.launch @k "D" ins(%c : memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 3
  func.return
}

// -----

// A chain in place is one buffer, through views as well; the operand named twice is fine.
// CHECK: {tile.memory = {arena = 64 : i64, lower_bound = 64 : i64, sum = 192 : i64, buffers = 3 : i64, inplace = 2 : i64
// CHECK:         %a = tile.alloc bytes 64 align 64 offset 0
// CHECK:         %b = tile.alloc bytes 64 align 64 offset 0
// CHECK:         %c = tile.alloc bytes 64 align 64 offset 0
func.func @inplace() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 0
  %v = tile.view %a offset 0 : memref<16xf32> -> memref<4x4xf32>
  %b = tile.alloc bytes 64 align 64 : memref<4x4xf32>
  tile.launch @k "B" ins(%v, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>) params [] blocks 1 scratch 0 inplace [0, 1] phase 1
  %c = tile.alloc bytes 64 align 64 : memref<4x4xf32>
  tile.launch @k "C" ins(%b : memref<4x4xf32>) outs(%c : memref<4x4xf32>) params [] blocks 1 scratch 0 inplace [0] phase 2
  tile.launch @k "D" ins(%c : memref<4x4xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 3
  func.return
}

// -----

// Near misses, none in place: %a is also read as a whole by an operand that may not be overwritten ("B"), the kernel
// of "C" does not allow it, %b is read later ("D" before "E"), and "F" has a larger result.
// CHECK: inplace = 0 : i64
// CHECK:         %a = tile.alloc bytes 64 align 64 offset [[A:.*]] :
// CHECK-NEXT:    tile.launch @k "A"
// CHECK-NOT:     %b = {{.*}} offset [[A]] :
// CHECK:         "B"
func.func @not_inplace() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<32xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 0
  %b = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "B" ins(%a, %a : memref<16xf32>, memref<16xf32>) outs(%b : memref<16xf32>) params [] blocks 1 scratch 0 inplace [1] phase 1
  %c = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "C" ins(%b : memref<16xf32>) outs(%c : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  %d = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "D" ins(%b : memref<16xf32>) outs(%d : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 3
  %e = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "E" ins(%b, %c, %d : memref<16xf32>, memref<16xf32>, memref<16xf32>) outs(%e : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 4
  %f = tile.alloc bytes 128 align 64 : memref<32xf32>
  tile.launch @k "F" ins(%e : memref<16xf32>) outs(%f : memref<32xf32>) params [] blocks 1 scratch 0 inplace [0] phase 5
  tile.launch @k "G" ins(%f : memref<32xf32>) outs(%y : memref<32xf32>) params [] blocks 1 scratch 0 inplace [0] phase 6
  func.return
}

// -----

// Two launches of a phase read %a: neither may take it over, three buffers are alive at once.
// CHECK: {tile.memory = {arena = 192 : i64, lower_bound = 192 : i64, sum = 192 : i64, buffers = 3 : i64, inplace = 0 : i64
func.func @shared_in_phase() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %b = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "B" ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 1
  %c = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "C" ins(%a : memref<16xf32>) outs(%c : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 1
  tile.launch @k "D" ins(%b, %c : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  func.return
}

// -----

// Half of a buffer is taken over, the other half is free from then on: %c lies there. What a third view reads of both
// halves, at another place, may not be overwritten ("D"); nor may a half be by something that starts at no aligned byte ("F").
// CHECK: {tile.memory = {arena = 192 : i64, lower_bound = 192 : i64, sum = 448 : i64, buffers = 5 : i64, inplace = 1 : i64
// CHECK:         %a = tile.alloc bytes 128 align 64 offset [[A:.*]] :
// CHECK:         %b = tile.alloc bytes 64 align 64 offset [[A]] :
// CHECK:         %c = tile.alloc bytes 128 align 64 offset 64 :
// CHECK:         %d = tile.alloc bytes 64 align 64 offset 0 :
// CHECK:         %f = tile.alloc bytes 48 align 64 offset 64 :
func.func @halves() {
  %x = tile.input 0 : memref<32xf32>
  %y = tile.output 0 : memref<12xf32>
  %a = tile.alloc bytes 128 align 64 : memref<32xf32>
  tile.launch @k "A" ins(%x : memref<32xf32>) outs(%a : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %lower = tile.view %a offset 0 : memref<32xf32> -> memref<16xf32>
  %upper = tile.view %a offset 64 : memref<32xf32> -> memref<16xf32>
  %b = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "B" ins(%lower, %upper : memref<16xf32>, memref<16xf32>) outs(%b : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0, 1] phase 1
  %c = tile.alloc bytes 128 align 64 : memref<32xf32>
  tile.launch @k "C" ins(%b : memref<16xf32>) outs(%c : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  %first = tile.view %c offset 0 : memref<32xf32> -> memref<16xf32>
  %middle = tile.view %c offset 32 : memref<32xf32> -> memref<16xf32>
  %d = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "D" ins(%first, %middle : memref<16xf32>, memref<16xf32>) outs(%d : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0, 1] phase 3
  tile.launch @k "E" ins(%c, %d : memref<32xf32>, memref<16xf32>) outs(%y : memref<12xf32>) params [] blocks 1 scratch 0 inplace [] phase 4
  %tail = tile.view %d offset 16 : memref<16xf32> -> memref<12xf32>
  %f = tile.alloc bytes 48 align 64 : memref<12xf32>
  tile.launch @k "F" ins(%tail : memref<12xf32>) outs(%f : memref<12xf32>) params [] blocks 1 scratch 0 inplace [0] phase 5
  tile.launch @k "G" ins(%f : memref<12xf32>) outs(%y : memref<12xf32>) params [] blocks 1 scratch 0 inplace [] phase 6
  func.return
}

// -----

// A joined buffer is alive part by part: %early lies where the second part is written when %early has died, and the first
// part took over %a. Between the launches that write it no byte of a part may be another's.
// CHECK: {tile.memory = {arena = 128 : i64, lower_bound = 128 : i64, sum = 256 : i64, buffers = 3 : i64, inplace = 1 : i64
// CHECK:         %a = tile.alloc bytes 64 align 64 offset 0 :
// CHECK:         %j = tile.alloc bytes 128 align 64 offset 0 :
// CHECK:         %early = tile.alloc bytes 64 align 64 offset 64 :
func.func @joined() {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<32xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %j = tile.alloc bytes 128 align 64 : memref<32xf32>
  %first = tile.view %j offset 0 : memref<32xf32> -> memref<16xf32>
  tile.launch @k "First" ins(%a : memref<16xf32>) outs(%first : memref<16xf32>) params [] blocks 1 scratch 0 inplace [0] phase 1
  %early = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "Early" ins(%first : memref<16xf32>) outs(%early : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  tile.launch @k "Use" ins(%early : memref<16xf32>) outs(%y : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 3
  %second = tile.view %j offset 64 : memref<32xf32> -> memref<16xf32>
  tile.launch @k "Second" ins(%x : memref<16xf32>) outs(%second : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 4
  %whole = tile.join %first, %second : memref<16xf32>, memref<16xf32> -> memref<32xf32>
  tile.launch @k "Last" ins(%whole : memref<32xf32>) outs(%y : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 5
  func.return
}

// -----

// Empty and untouched buffers need no bytes; a function without launches has an empty arena.
// CHECK: {tile.memory = {arena = 0 : i64, lower_bound = 0 : i64, sum = 64 : i64, buffers = 2 : i64, inplace = 0 : i64
// CHECK:         tile.alloc bytes 0 align 64 offset 0 : memref<0xf32>
// CHECK:         tile.alloc bytes 64 align 64 offset 0 : memref<16xf32>
func.func @empty() {
  %x = tile.input 0 : memref<0xf32>
  %y = tile.output 0 : memref<0xf32>
  %a = tile.alloc bytes 0 align 64 : memref<0xf32>
  tile.launch @k "A" ins(%x : memref<0xf32>) outs(%a : memref<0xf32>) params [] blocks 0 scratch 0 inplace [0] phase 0
  tile.launch @k "B" ins(%a : memref<0xf32>) outs(%y : memref<0xf32>) params [] blocks 0 scratch 0 inplace [0] phase 1
  %unused = tile.alloc bytes 64 align 64 : memref<16xf32>
  func.return
}

// -----

// Gears never run together: their plans are laid over one another, and the arena is that of the largest. Each has its
// own life of a buffer: that of @Batch_1 does not reach into @Batch_0.
// CHECK: builtin.module attributes {ge.gears = "batch", tile.memory = {arena = 256 : i64, lower_bound = 256 : i64, sum = 384 : i64, buffers = 4 : i64, inplace = 0 : i64
// CHECK-LABEL:   func.func @Batch_0
// CHECK:           %a = tile.alloc bytes 64 align 64 offset [[A:[0-9]+]] :
// CHECK:           %b = tile.alloc bytes 64 align 64 offset
// CHECK-LABEL:   func.func @Batch_1
// CHECK:           %c = tile.alloc bytes 128 align 64 offset {{0|128}} :
// CHECK:           %d = tile.alloc bytes 128 align 64 offset {{0|128}} :
// ALONE: tile.memory = {arena = 384 : i64, lower_bound = 384 : i64, sum = 384 : i64, buffers = 4 : i64
builtin.module attributes {ge.gears = "batch"} {
func.func @Batch_0() attributes {tile.signature = (tensor<16xf32>) -> tensor<16xf32>} {
  %x = tile.input 0 : memref<16xf32>
  %y = tile.output 0 : memref<16xf32>
  %a = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "A" ins(%x : memref<16xf32>) outs(%a : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %b = tile.alloc bytes 64 align 64 : memref<16xf32>
  tile.launch @k "B" ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 1
  tile.launch @k "C" ins(%b : memref<16xf32>) outs(%y : memref<16xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  func.return
}
func.func @Batch_1() attributes {tile.signature = (tensor<32xf32>) -> tensor<32xf32>} {
  %x = tile.input 0 : memref<32xf32>
  %y = tile.output 0 : memref<32xf32>
  %c = tile.alloc bytes 128 align 64 : memref<32xf32>
  tile.launch @k "A" ins(%x : memref<32xf32>) outs(%c : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  %d = tile.alloc bytes 128 align 64 : memref<32xf32>
  tile.launch @k "B" ins(%c : memref<32xf32>) outs(%d : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 1
  tile.launch @k "C" ins(%d : memref<32xf32>) outs(%y : memref<32xf32>) params [] blocks 1 scratch 0 inplace [] phase 2
  func.return
}
}
