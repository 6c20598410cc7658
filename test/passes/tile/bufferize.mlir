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
