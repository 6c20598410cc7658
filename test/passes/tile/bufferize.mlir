// RUN: gecc-opt %s --split-input-file -p tile-bufferize | filecheck %s

// Intermediates go to the arena, the last result straight to the output; the signature is remembered.
// CHECK-LABEL: func.func @chain() attributes {tile.signature = (tensor<2x8xf32>) -> tensor<2x8xf32>}
// CHECK-NEXT:    %x = tile.input 0 : memref<2x8xf32>
// CHECK-NEXT:    %[[OUT:.*]] = tile.output 0 : memref<2x8xf32>
// CHECK-NEXT:    %[[MID:.*]] = tile.alloc bytes 64 align 64 : memref<2x8xf32>
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%x : memref<2x8xf32>) outs(%[[MID]] : memref<2x8xf32>) params [16] blocks 2 scratch 128 inplace [0]
// CHECK-NEXT:    tile.launch @exp "Exp" ins(%[[MID]] : memref<2x8xf32>) outs(%[[OUT]] : memref<2x8xf32>) params [16] blocks 1 scratch 0 inplace []
// CHECK-NEXT:    func.return
func.func @chain(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tile.launch @relu "Relu" ins(%x : tensor<2x8xf32>) params [16] blocks 2 scratch 128 inplace [0] -> tensor<2x8xf32>
  %1 = tile.launch @exp "Exp" ins(%0 : tensor<2x8xf32>) params [16] blocks 1 scratch 0 inplace [] -> tensor<2x8xf32>
  func.return %1 : tensor<2x8xf32>
}

// -----

// A view of a whole result as output: the launch writes the output, nothing is copied.
// CHECK-LABEL: func.func @viewed_output
// CHECK:         %[[OUT:.*]] = tile.output 0 : memref<16xf32>
// CHECK-NEXT:    %[[V:.*]] = tile.view %[[OUT]] offset 0 : memref<16xf32> -> memref<2x8xf32>
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%x : memref<2x8xf32>) outs(%[[V]] : memref<2x8xf32>)
// CHECK-NEXT:    func.return
func.func @viewed_output(%x: tensor<2x8xf32>) -> tensor<16xf32> {
  %0 = tile.launch @relu "Relu" ins(%x : tensor<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0] -> tensor<2x8xf32>
  %1 = tile.view %0 offset 0 : tensor<2x8xf32> -> tensor<4x4xf32>
  %2 = tile.view %1 offset 0 : tensor<4x4xf32> -> tensor<16xf32>
  func.return %2 : tensor<16xf32>
}

// -----

// Near miss: a view of a part needs a copy.
// CHECK-LABEL: tile.kernel @copy_f32(
// CHECK-LABEL: func.func @part_as_output
// CHECK:         %[[OUT:.*]] = tile.output 0 : memref<8xf32>
// CHECK-NEXT:    %[[MID:.*]] = tile.alloc bytes 64 align 64 : memref<2x8xf32>
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%x : memref<2x8xf32>) outs(%[[MID]] : memref<2x8xf32>)
// CHECK-NEXT:    %[[V:.*]] = tile.view %[[MID]] offset 32 : memref<2x8xf32> -> memref<8xf32>
// CHECK-NEXT:    tile.launch @copy_f32 "Copy" ins(%[[V]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>) params [8, 16384] blocks 1 scratch 0 inplace []
func.func @part_as_output(%x: tensor<2x8xf32>) -> tensor<8xf32> {
  %0 = tile.launch @relu "Relu" ins(%x : tensor<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0] -> tensor<2x8xf32>
  %1 = tile.view %0 offset 32 : tensor<2x8xf32> -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}

// -----

// One result as two outputs, an input and a weight as outputs: one launch writes, the others are copies.
// One copy kernel an element type; large copies have several blocks.
// CHECK-COUNT-1: tile.kernel @copy_
// CHECK:         tile.kernel @copy_
// CHECK-LABEL: func.func @copies
// CHECK-NEXT:    %x = tile.input 0 : memref<40000xf32>
// CHECK-NEXT:    %[[A:.*]] = tile.output 0 : memref<40000xf32>
// CHECK-NEXT:    %[[B:.*]] = tile.output 1 : memref<40000xf32>
// CHECK-NEXT:    %[[C:.*]] = tile.output 2 : memref<40000xf32>
// CHECK-NEXT:    %[[D:.*]] = tile.output 3 : memref<2xi8>
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%x : memref<40000xf32>) outs(%[[B]] : memref<40000xf32>)
// CHECK-NEXT:    %w = tile.weight dense<1> : tensor<2xi8> -> memref<2xi8>
// CHECK-NEXT:    tile.launch @copy_f32 "Copy" ins(%x : memref<40000xf32>) outs(%[[A]] : memref<40000xf32>) params [40000, 16384] blocks 3
// CHECK-NEXT:    tile.launch @copy_f32 "Copy" ins(%[[B]] : memref<40000xf32>) outs(%[[C]] : memref<40000xf32>)
// CHECK-NEXT:    tile.launch @copy_i8 "Copy" ins(%w : memref<2xi8>) outs(%[[D]] : memref<2xi8>) params [2, 65536] blocks 1
func.func @copies(%x: tensor<40000xf32>) -> (tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>, tensor<2xi8>) {
  %0 = tile.launch @relu "Relu" ins(%x : tensor<40000xf32>) params [40000] blocks 1 scratch 0 inplace [0] -> tensor<40000xf32>
  %w = tile.weight dense<1> : tensor<2xi8> -> tensor<2xi8>
  func.return %x, %0, %0, %w : tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>, tensor<2xi8>
}

// -----

// The result itself goes before a view of it, wherever it stands.
// CHECK-LABEL: func.func @direct_first
// CHECK:         %[[A:.*]] = tile.output 0 : memref<4xf32>
// CHECK-NEXT:    %[[B:.*]] = tile.output 1 : memref<2x2xf32>
// CHECK-NEXT:    tile.launch @relu "Relu" ins(%x : memref<2x2xf32>) outs(%[[B]] : memref<2x2xf32>)
// CHECK-NEXT:    %[[V:.*]] = tile.view %[[B]] offset 0 : memref<2x2xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @copy_f32 "Copy" ins(%[[V]] : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
func.func @direct_first(%x: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = tile.launch @relu "Relu" ins(%x : tensor<2x2xf32>) params [4] blocks 1 scratch 0 inplace [0] -> tensor<2x2xf32>
  %1 = tile.view %0 offset 0 : tensor<2x2xf32> -> tensor<4xf32>
  func.return %1, %0 : tensor<4xf32>, tensor<2x2xf32>
}

// -----

// Physical shapes follow the layout, sizes the element type; a kernel of the name, but another body, is left alone.
// CHECK:         tile.kernel @copy_i1_1(%x: memref<?xi1>, %y: memref<?xi1>
// CHECK:         tile.kernel @copy_i1(
// CHECK-LABEL: func.func @layouts
// CHECK:         %[[A:.*]] = tile.alloc bytes 960 align 64 {layout = #ge.layout<NHWC>} : memref<2x4x5x3xf64>
// CHECK-NEXT:    %[[B:.*]] = tile.alloc bytes 12 align 64 : memref<6xbf16>
tile.kernel @copy_i1(%x: memref<?xi1>, %y: memref<?xi1>, %n: index, %b: index) {
}
func.func @layouts(%x: tensor<2x3x4x5xf64>, %m: tensor<3xi1>) -> (tensor<2x3xf16>, tensor<3xi1>) {
  %0, %1 = tile.launch @nhwc "TransData" ins(%x : tensor<2x3x4x5xf64>) params [] blocks 1 scratch 0 inplace [] -> tensor<2x3x4x5xf64, #ge.layout<NHWC>>, tensor<6xbf16>
  %2 = tile.launch @f "F" ins(%0, %1 : tensor<2x3x4x5xf64, #ge.layout<NHWC>>, tensor<6xbf16>) params [] blocks 1 scratch 0 inplace [] -> tensor<2x3xf16>
  func.return %2, %m : tensor<2x3xf16>, tensor<3xi1>
}

// -----

// Nothing but scalars and empty tensors.
// CHECK-LABEL: func.func @empty
// CHECK:         tile.alloc bytes 0 align 64 : memref<0x4xf32>
// CHECK:         tile.launch @copy_f32 "Copy" ins(%{{.*}} : memref<4x0xf32>) outs(%{{.*}} : memref<4x0xf32>) params [0, 16384] blocks 0
func.func @empty(%x: tensor<f32>, %e: tensor<4x0xf32>) -> (tensor<f32>, tensor<4x0xf32>) {
  %0 = tile.launch @a "A" ins(%x : tensor<f32>) params [] blocks 0 scratch 0 inplace [] -> tensor<0x4xf32>
  %1 = tile.launch @b "B" ins(%0 : tensor<0x4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<f32>
  func.return %1, %e : tensor<f32>, tensor<4x0xf32>
}

// -----

// Parts of a join are made where they lie in it: through views, and a join in a join. Inputs are copied there, and so is a
// tensor for the second time that it is a part.
// CHECK-LABEL: func.func @joined()
// CHECK:         %x = tile.input 0 : memref<4xf32>
// CHECK:         %j = tile.alloc bytes 64 align 64 : memref<16xf32>
// CHECK-NEXT:    [[I:%.*]] = tile.view %j offset 0 : memref<16xf32> -> memref<8xf32>
// CHECK-NEXT:    %a = tile.view [[I]] offset 16 : memref<8xf32> -> memref<2x2xf32>
// CHECK-NEXT:    tile.launch @k "A" {{.*}} outs(%a : memref<2x2xf32>)
// CHECK-NEXT:    [[V:%.*]] = tile.view %a offset 0 : memref<2x2xf32> -> memref<4xf32>
// CHECK-NEXT:    [[P:%.*]] = tile.view [[I]] offset 0 : memref<8xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @copy_f32 "Concat" ins(%x : memref<4xf32>) outs([[P]] : memref<4xf32>) params [4, 16384] blocks 1
// CHECK-NEXT:    [[J:%.*]] = tile.join [[P]], [[V]] : memref<4xf32>, memref<4xf32> -> memref<8xf32>
// CHECK-NEXT:    %b = tile.view %j offset 32 : memref<16xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @k "B" ins([[J]] : memref<8xf32>) outs(%b : memref<4xf32>)
// CHECK-NEXT:    [[Q:%.*]] = tile.view %j offset 48 : memref<16xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @copy_f32 "Concat" ins(%b : memref<4xf32>) outs([[Q]] : memref<4xf32>)
// CHECK-NEXT:    [[K:%.*]] = tile.join [[J]], %b, [[Q]] : memref<8xf32>, memref<4xf32>, memref<4xf32> -> memref<16xf32>
// CHECK-NEXT:    tile.launch @k "Y" ins([[K]] : memref<16xf32>)
func.func @joined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tile.launch @k "A" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<2x2xf32>
  %v = tile.view %a offset 0 : tensor<2x2xf32> -> tensor<4xf32>
  %i = tile.join %x, %v : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  %b = tile.launch @k "B" ins(%i : tensor<8xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %j = tile.join %i, %b, %b : tensor<8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<16xf32>
  %y = tile.launch @k "Y" ins(%j : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A joined graph output is made in the caller's memory, part by part.
// CHECK-LABEL: func.func @returned()
// CHECK:         [[Y:%.*]] = tile.output 0 : memref<8xf32>
// CHECK-NEXT:    %a = tile.view [[Y]] offset 0 : memref<8xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @k "A" {{.*}} outs(%a : memref<4xf32>)
// CHECK-NEXT:    %b = tile.view [[Y]] offset 16 : memref<8xf32> -> memref<4xf32>
// CHECK-NEXT:    tile.launch @k "B" ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
// CHECK-NEXT:    tile.join %a, %b : memref<4xf32>, memref<4xf32> -> memref<8xf32>
func.func @returned(%x: tensor<4xf32>) -> tensor<8xf32> {
  %a = tile.launch @k "A" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %b = tile.launch @k "B" ins(%a : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %j = tile.join %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  func.return %j : tensor<8xf32>
}

// -----

// Near misses, all copied: part of a tensor (%h), a tensor that is a graph output (%b), one that another join has (%c), what a
// kernel reads as panels (%p), what the host makes (%n), parts of a join marked so (%d). Nothing is copied of no elements (%e).
// CHECK-LABEL: func.func @apart()
// CHECK:         %h = tile.view %a offset 16 : memref<8xf32> -> memref<4xf32>
// CHECK:         "Concat" ins(%h : memref<4xf32>) outs([[H:%.*]] : memref<4xf32>)
// CHECK:         "Concat" ins(%b : memref<4xf32>) outs([[B:%.*]] : memref<4xf32>)
// CHECK:         tile.join [[H]], [[B]], %c,
// CHECK:         "Concat" ins(%c : memref<4xf32>) outs([[C:%.*]] : memref<4xf32>)
// CHECK:         "Concat" ins(%p : memref<1x1x16xf32>) outs([[P:%.*]] : memref<1x1x16xf32>)
// CHECK:         "Concat" ins(%n : memref<4xf32>) outs([[N:%.*]] : memref<4xf32>)
// CHECK:         tile.join [[C]], [[P]], [[N]] :
// CHECK:         "Concat" ins(%d : memref<4xf32>) outs([[D:%.*]] : memref<4xf32>)
// CHECK:         tile.join [[D]] :
tile.kernel @product(%l: memref<?xf32>, %r: memref<?xf32>, %y: memref<?xf32>, %blk: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %fill = tile.fill %c : f32 to vector<1x16xf32>
  %acc = tile.mma %fill, %l[%zero], %r[%zero] rows %one depth %one outer(%one by %zero, %one by %zero) : vector<1x16xf32>
  tile.store_tile %acc, %y[%zero] rows %one columns %one (%v: f32, %i: index, %k: index) {
    tile.yield %v : f32
  }
}
func.func @apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) {
  %a = tile.launch @k "A" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<8xf32>
  %h = tile.view %a offset 16 : tensor<8xf32> -> tensor<4xf32>
  %b = tile.launch @k "B" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %c = tile.launch @k "C" ins(%x : tensor<4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %e = tile.launch @k "E" ins(%x : tensor<4xf32>) params [] blocks 0 scratch 0 inplace [] -> tensor<0xf32>
  %j = tile.join %h, %b, %c, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<0xf32> -> tensor<12xf32>
  %p = tile.launch @k "P" ins(%j : tensor<12xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1x1x16xf32>
  %n = tile.host "Own" domain "com.acme" opset 1 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins(%p : tensor<1x1x16xf32>) -> tensor<4xf32>
  %m = tile.join %c, %p, %n : tensor<4xf32>, tensor<1x1x16xf32>, tensor<4xf32> -> tensor<24xf32>
  %d = tile.launch @k "D" ins(%m : tensor<24xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<4xf32>
  %o = tile.join %d copied : tensor<4xf32> -> tensor<4xf32>
  %q = tile.launch @product "Q" ins(%o, %p : tensor<4xf32>, tensor<1x1x16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1xf32>
  func.return %b, %o, %q : tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
}
