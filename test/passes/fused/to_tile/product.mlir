// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p 'fused-to-tile{target="x86-64-v4"}' | filecheck %s

// A light epilogue is written into the store of the tile; a residual is read where the result is written, so its memory
// may become the result's. The panel's width is the width of the register tile.
// CHECK-LABEL: tile.kernel @MatMulAdd_4x32(
// CHECK:         [[T:%[0-9]+]] = tile.mma {{.*}} : vector<4x32xf32>
// CHECK:         tile.store_tile [[T]], %3{{.*}} ([[ACC:%[0-9]+]]: f32,
// CHECK:           [[R:%[0-9]+]] = tile.load %2
// CHECK-NEXT:      %a = arith.addf [[ACC]], [[R]] : f32
// CHECK-NEXT:      tile.yield %a : f32
// CHECK:         tile.launch @MatMulAdd_4x32 "MatMulAdd" {{.*}} blocks 1 scratch 0 inplace [2] -> tensor<8x32xf32>
func.func @main(%x: tensor<8x24xf32>, %w: tensor<1x24x32xf32>, %r: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %y = fused.matmul "MatMulAdd"(%x, %w, %r) {packed = 32 : i64, tiling = {columns = 32 : i64, full = 2 : i64, rows = 4 : i64, short = 0 : i64}} : (tensor<8x24xf32>, tensor<1x24x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<8x24xf32>, %u: tensor<1x24x32xf32>, %s: tensor<8x32xf32>) {
    %v = fused.load %s[%i, %j] : tensor<8x32xf32>
    %a = arith.addf %acc, %v : f32
    fused.yield %a : f32
  }
  func.return %y : tensor<8x32xf32>
}

// -----
// A heavy one would be written once for each vector of the tile; the tile goes through scratch and lanes instead.
// Rows are 5 + 4: there is a kernel for both heights, so no tile has a row too many.
// CHECK-LABEL: tile.kernel @MatMulTanh_5x32(
// CHECK:         [[S:%[0-9]+]] = tile.scratch
// CHECK:         tile.mma {{.*}} : vector<5x32xf32>
// CHECK:         tile.store_tile {{.*}}, [[S]]
// CHECK-NOT:       math.tanh
// CHECK:         tile.lanes
// CHECK:           math.tanh
// CHECK:         tile.mma {{.*}} : vector<4x32xf32>
// CHECK:         tile.launch @MatMulTanh_5x32 {{.*}} scratch {{[1-9][0-9]*}} inplace []
func.func @main(%x: tensor<8x24xf32>, %w: tensor<1x24x32xf32>) -> tensor<8x32xf32> {
  %y = fused.matmul "MatMulTanh"(%x, %w) {packed = 32 : i64, tiling = {columns = 32 : i64, full = 1 : i64, rows = 5 : i64, short = 1 : i64}} : (tensor<8x24xf32>, tensor<1x24x32xf32>) -> tensor<8x32xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<8x24xf32>, %u: tensor<1x24x32xf32>) {
    %a = math.tanh %acc : f32
    fused.yield %a : f32
  }
  func.return %y : tensor<8x32xf32>
}

// -----
// A left side without the batch of the right one is repeated before the product; each item of the batch is a block.
// CHECK-LABEL: tile.kernel @Expand(
// CHECK-LABEL: tile.kernel @Batch_9x32(
// CHECK:         [[X:%.*]] = tile.launch @Expand "Expand" {{.*}} -> tensor<4x9x20xf32>
// CHECK-NEXT:    tile.launch @Batch_9x32 "Batch" ins([[X]], %w : {{.*}} blocks 4
func.func @main(%x: tensor<9x20xf32>, %w: tensor<4x1x20x32xf32>) -> tensor<4x9x32xf32> {
  %y = fused.matmul "Batch"(%x, %w) {packed = 32 : i64, tiling = {columns = 32 : i64, full = 1 : i64, rows = 9 : i64, short = 0 : i64}} : (tensor<9x20xf32>, tensor<4x1x20x32xf32>) -> tensor<4x9x32xf32> epilogue(%b: index, %i: index, %j: index, %acc: f32, %t: tensor<9x20xf32>, %u: tensor<4x1x20x32xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<4x9x32xf32>
}

// -----
// Narrow integers are widened before the product, by one kernel for each side.
// CHECK:         tile.mma {{.*}} : vector<9x32xi32>
// CHECK:         [[X:%.*]] = tile.launch @Cast "Cast" ins(%x : tensor<9x20xi8>) {{.*}} -> tensor<9x20xi32>
// CHECK-NEXT:    [[W:%.*]] = tile.launch @Cast_1 "Cast" ins(%w : tensor<1x20x32xi8>) {{.*}} -> tensor<1x20x32xi32>
// CHECK-NEXT:    tile.launch @Narrow_9x32 "Narrow" ins([[X]], [[W]] :
func.func @main(%x: tensor<9x20xi8>, %w: tensor<1x20x32xi8>) -> tensor<9x32xi8> {
  %y = fused.matmul "Narrow"(%x, %w) {packed = 32 : i64, tiling = {columns = 32 : i64, full = 1 : i64, rows = 9 : i64, short = 0 : i64}} : (tensor<9x20xi8>, tensor<1x20x32xi8>) -> tensor<9x32xi8> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<9x20xi8>, %u: tensor<1x20x32xi8>) {
    %a = arith.trunci %acc : i32 to i8
    fused.yield %a : i8
  }
  func.return %y : tensor<9x32xi8>
}

// -----
// A convolution works on channels-last tensors, converted before and after; padded rows are copied into scratch with
// zeros around them, and the taps are the outer loops of the contraction.
// CHECK-LABEL: tile.kernel @Conv_6x16(
// CHECK:         [[S:%[0-9]+]] = tile.scratch
// CHECK:         tile.store {{.*}}, [[S]]
// CHECK:         tile.mma %{{[0-9]+}}, [[S]]{{.*}} outer(%n1 by %stride1, %n2 by %stride2)
// CHECK:         [[X:%.*]] = tile.launch @TransData "TransData" ins(%x
// CHECK-NEXT:    [[Y:%.*]] = tile.launch @Conv_6x16 "Conv" ins([[X]], %w : {{.*}} scratch {{[1-9][0-9]*}}
// CHECK-NEXT:    tile.launch @TransData_1 "TransData" ins([[Y]]
func.func @main(%x: tensor<1x4x6x6xf32>, %w: tensor<1x1x36x16xf32>) -> tensor<1x16x6x6xf32> {
  %y = fused.conv "Conv"(%x, %w) {packed = 16 : i64, tiling = {columns = 16 : i64, full = 1 : i64, rows = 6 : i64, short = 0 : i64}, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<1x1x36x16xf32>) -> tensor<1x16x6x6xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x4x6x6xf32>, %u: tensor<1x1x36x16xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<1x16x6x6xf32>
}

// -----
// A pointwise convolution is a matrix product over all pixels, read in place.
// CHECK-LABEL: tile.kernel @Pointwise_6x16(
// CHECK-NOT:     tile.scratch
// CHECK:         tile.mma %{{[0-9]+}}, %0[
// CHECK:         tile.launch @Pointwise_6x16 "Pointwise" ins(%x, %w : {{.*}} scratch 0
func.func @main(%x: tensor<1x4x6x6xf32, #ge.layout<NHWC>>, %w: tensor<1x1x4x16xf32>) -> tensor<1x16x6x6xf32, #ge.layout<NHWC>> {
  %y = fused.conv "Pointwise"(%x, %w) {packed = 16 : i64, tiling = {columns = 16 : i64, full = 6 : i64, rows = 6 : i64, short = 0 : i64}, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>, tensor<1x1x4x16xf32>) -> tensor<1x16x6x6xf32, #ge.layout<NHWC>> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x4x6x6xf32, #ge.layout<NHWC>>, %u: tensor<1x1x4x16xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<1x16x6x6xf32, #ge.layout<NHWC>>
}

// -----
// A depthwise convolution has no register tile: lanes run over channels.
// CHECK-LABEL: tile.kernel @Depth_depthwise(
// CHECK-NOT:     tile.mma
// CHECK:         tile.lanes
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               math.fma
// CHECK:         tile.launch @Depth_depthwise "Depth" ins(%x, %w :
func.func @main(%x: tensor<1x4x6x6xf32, #ge.layout<NHWC>>, %w: tensor<1x1x9x4xf32>) -> tensor<1x4x4x4xf32, #ge.layout<NHWC>> {
  %y = fused.conv "Depth"(%x, %w) {packed = 4 : i64, tiling = {columns = 4 : i64, full = 0 : i64, rows = 0 : i64, short = 0 : i64}, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64} : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>, tensor<1x1x9x4xf32>) -> tensor<1x4x4x4xf32, #ge.layout<NHWC>> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x4x6x6xf32, #ge.layout<NHWC>>, %u: tensor<1x1x9x4xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<1x4x4x4xf32, #ge.layout<NHWC>>
}

// -----
// Where the image is padded nothing is copied: the taps inside it are counted, of an output row and of a pixel at the border.
// CHECK-LABEL: tile.kernel @Border_depthwise(
// CHECK-NOT:     tile.scratch
// CHECK:         scf.for
// CHECK:           arith.maxsi
// CHECK:           [[LOW:%[0-9]+]] = arith.minsi {{%[0-9]+}}, [[HIGH:%[0-9]+]] : index
// CHECK:           tile.lanes
// CHECK:             scf.for {{%[0-9]+}} = [[LOW]] to [[HIGH]]
// CHECK-NOT:     tile.scratch
// CHECK:         tile.launch @Border_depthwise "Border" {{.*}} scratch 0
func.func @main(%x: tensor<1x4x2x9xf32, #ge.layout<NHWC>>, %w: tensor<1x1x25x4xf32>) -> tensor<1x4x2x9xf32, #ge.layout<NHWC>> {
  %y = fused.conv "Border"(%x, %w) {packed = 4 : i64, tiling = {columns = 4 : i64, full = 0 : i64, rows = 0 : i64, short = 0 : i64}, kernel = array<i64: 5, 5>, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 4 : i64} : (tensor<1x4x2x9xf32, #ge.layout<NHWC>>, tensor<1x1x25x4xf32>) -> tensor<1x4x2x9xf32, #ge.layout<NHWC>> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x4x2x9xf32, #ge.layout<NHWC>>, %u: tensor<1x1x25x4xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<1x4x2x9xf32, #ge.layout<NHWC>>
}

// -----
// CHECK: 'fused.matmul' "Early" must have a tiling and a packed right side
// CHECK: hint: run fused-choose-tilings and fused-pack-weights before fused-to-tile
func.func @main(%x: tensor<8x24xf32>, %w: tensor<24x32xf32>) -> tensor<8x32xf32> {
  %y = fused.matmul "Early"(%x, %w) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<8x24xf32>, %u: tensor<24x32xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<8x32xf32>
}

// -----
// CHECK: 'fused.matmul' "Peek": the epilogue reads operand 0 itself
// CHECK: hint: give the tensor to the epilogue as an operand of its own
func.func @main(%x: tensor<9x20xi8>, %w: tensor<1x20x32xi8>) -> tensor<9x32xi8> {
  %y = fused.matmul "Peek"(%x, %w) {packed = 32 : i64, tiling = {columns = 32 : i64, full = 1 : i64, rows = 9 : i64, short = 0 : i64}} : (tensor<9x20xi8>, tensor<1x20x32xi8>) -> tensor<9x32xi8> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<9x20xi8>, %u: tensor<1x20x32xi8>) {
    %z = arith.constant 0 : index
    %a = fused.load %t[%i, %z] : tensor<9x20xi8>
    fused.yield %a : i8
  }
  func.return %y : tensor<9x32xi8>
}
