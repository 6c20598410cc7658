// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p fused-pack-weights | filecheck %s

// A constant becomes a recipe: nothing is computed at run time. 100 columns are 2 panels of 64.
// CHECK-LABEL: func.func @constant
// CHECK-NOT:     fused.generic
// CHECK:         %0 = fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<2x3x64xf32>>
// CHECK-NEXT:    %y = fused.matmul "MatMul"(%x, %0) {packed = 64 : i64, tiling = {columns = 64 : i64}} : (tensor<5x3xf32>, tensor<2x3x64xf32>) -> tensor<5x100xf32> epilogue({{.*}}, %u: tensor<2x3x64xf32>) {
func.func @constant(%x: tensor<5x3xf32>) -> tensor<5x100xf32> {
  %w = fused.const dense<1.0> : tensor<3x100xf32>
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 64 : i64}} : (tensor<5x3xf32>, tensor<3x100xf32>) -> tensor<5x100xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<5x3xf32>, %u: tensor<3x100xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<5x100xf32>
}

// -----
// A transposed constant is a recipe too; the product forgets that it was transposed.
// CHECK-LABEL: func.func @transposed
// CHECK:         fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<1x3x16xf32>>
// CHECK-NOT:     transpose_b
// CHECK:         func.return
func.func @transposed(%x: tensor<5x3xf32>) -> tensor<5x16xf32> {
  %w = fused.const dense<1.0> : tensor<16x3xf32>
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 16 : i64}, transpose_b} : (tensor<5x3xf32>, tensor<16x3xf32>) -> tensor<5x16xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<5x3xf32>, %u: tensor<16x3xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<5x16xf32>
}

// -----
// A right side computed at run time is packed by an operation; columns past the last one hold zeros.
// CHECK-LABEL: func.func @computed
// CHECK:         fused.generic "TransData"(%w) : (tensor<2x3x100xf32>) -> tensor<2x2x3x64xf32> body(
// CHECK:           arith.cmpi slt
// CHECK:           fused.load
// CHECK:           arith.select
// CHECK:         fused.matmul "MatMul"(%x, %{{.*}}) {packed = 64 : i64
func.func @computed(%x: tensor<2x5x3xf32>, %w: tensor<2x3x100xf32>) -> tensor<2x5x100xf32> {
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 64 : i64}} : (tensor<2x5x3xf32>, tensor<2x3x100xf32>) -> tensor<2x5x100xf32> epilogue(%b: index, %i: index, %j: index, %acc: f32, %t: tensor<2x5x3xf32>, %u: tensor<2x3x100xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<2x5x100xf32>
}

// -----
// Whole panels need no zeros.
// CHECK-LABEL: func.func @whole_panels
// CHECK:         fused.generic "TransData"(%w) : (tensor<3x128xf32>) -> tensor<2x3x64xf32>
// CHECK-NOT:       arith.select
// CHECK:         fused.matmul
func.func @whole_panels(%x: tensor<5x3xf32>, %w: tensor<3x128xf32>) -> tensor<5x128xf32> {
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 64 : i64}} : (tensor<5x3xf32>, tensor<3x128xf32>) -> tensor<5x128xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<5x3xf32>, %u: tensor<3x128xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<5x128xf32>
}

// -----
// Convolutions: [group, panels, KH * KW * C / group, columns], constant or computed.
// CHECK-LABEL: func.func @conv
// CHECK:         fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<2x1x27x16xf32>>
// CHECK:         fused.conv "Conv"(%x, %{{.*}}) {{{.*}}packed = 16 : i64
// CHECK:         fused.generic "TransData"(%v) : (tensor<10x3x3x3xf32>) -> tensor<2x1x27x16xf32>
// CHECK:         fused.conv "Computed"(%x, %{{.*}}) {{{.*}}packed = 16 : i64
func.func @conv(%x: tensor<1x6x5x5xf32>, %v: tensor<10x3x3x3xf32>) -> (tensor<1x10x3x3xf32>, tensor<1x10x3x3xf32>) {
  %w = fused.const dense<1.0> : tensor<10x3x3x3xf32>
  %y = fused.conv "Conv"(%x, %w) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, tiling = {columns = 16 : i64}} : (tensor<1x6x5x5xf32>, tensor<10x3x3x3xf32>) -> tensor<1x10x3x3xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x6x5x5xf32>, %u: tensor<10x3x3x3xf32>) {
    fused.yield %acc : f32
  }
  %z = fused.conv "Computed"(%x, %v) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, tiling = {columns = 16 : i64}} : (tensor<1x6x5x5xf32>, tensor<10x3x3x3xf32>) -> tensor<1x10x3x3xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x6x5x5xf32>, %u: tensor<10x3x3x3xf32>) {
    fused.yield %acc : f32
  }
  func.return %y, %z : tensor<1x10x3x3xf32>, tensor<1x10x3x3xf32>
}

// -----
// What is packed already stays.
// CHECK-LABEL: func.func @packed
// CHECK-NEXT:    %y = fused.matmul "MatMul"(%x, %w) {packed = 16 : i64}
func.func @packed(%x: tensor<5x3xf32>, %w: tensor<2x3x16xf32>) -> tensor<5x20xf32> {
  %y = fused.matmul "MatMul"(%x, %w) {packed = 16 : i64} : (tensor<5x3xf32>, tensor<2x3x16xf32>) -> tensor<5x20xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<5x3xf32>, %u: tensor<2x3x16xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<5x20xf32>
}

// -----
// CHECK: 'fused.matmul' "MatMul" has no tiling
// CHECK: hint: run fused-choose-tilings before fused-pack-weights
func.func @no_tiling(%x: tensor<5x3xf32>, %w: tensor<3x20xf32>) -> tensor<5x20xf32> {
  %y = fused.matmul "MatMul"(%x, %w) : (tensor<5x3xf32>, tensor<3x20xf32>) -> tensor<5x20xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<5x3xf32>, %u: tensor<3x20xf32>) {
    fused.yield %acc : f32
  }
  func.return %y : tensor<5x20xf32>
}

// -----
// Words that are bytes stay bytes, two steps of a column side by side.
// CHECK-LABEL: func.func @bytes
// CHECK:         fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<1x2x16xi8>>
// CHECK-NEXT:    fused.matmul "MatMul"(%x, %{{.*}}) {packed = 16 : i64, pairs, tiling
func.func @bytes(%x: tensor<5x2xi16>) -> tensor<5x3xi32> {
  %w = fused.const dense<[[-128, 127, 0], [1, 2, 3]]> : tensor<2x3xi16>
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 16 : i64}} : (tensor<5x2xi16>, tensor<2x3xi16>) -> tensor<5x3xi32> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<5x2xi16>, %u: tensor<2x3xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<5x3xi32>
}

// -----
// One number too large for a byte: words, in pairs all the same.
// CHECK-LABEL: func.func @words
// CHECK:         fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<1x2x16xi16>>
// CHECK-NEXT:    fused.matmul "MatMul"(%x, %{{.*}}) {packed = 16 : i64, pairs, tiling
func.func @words(%x: tensor<5x2xi16>) -> tensor<5x3xi32> {
  %w = fused.const dense<[[-128, 128, 0], [1, 2, 3]]> : tensor<2x3xi16>
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 16 : i64}} : (tensor<5x2xi16>, tensor<2x3xi16>) -> tensor<5x3xi32> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<5x2xi16>, %u: tensor<2x3xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<5x3xi32>
}

// -----
// An odd number of steps has no pairs.
// CHECK-LABEL: func.func @odd
// CHECK:         fused.const #ge.weight<"{{[0-9a-f]+}}", tensor<1x3x16xi8>>
// CHECK-NEXT:    fused.matmul "MatMul"(%x, %{{.*}}) {packed = 16 : i64, tiling
func.func @odd(%x: tensor<5x3xi16>) -> tensor<5x3xi32> {
  %w = fused.const dense<[[-128, 127, 0], [1, 2, 3], [4, 5, 6]]> : tensor<3x3xi16>
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 16 : i64}} : (tensor<5x3xi16>, tensor<3x3xi16>) -> tensor<5x3xi32> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<5x3xi16>, %u: tensor<3x3xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<5x3xi32>
}

// -----
// What is computed at run time is packed step by step, and its numbers are not known.
// CHECK-LABEL: func.func @computed_words
// CHECK:         fused.generic "TransData"(%w) : (tensor<2x16xi16>) -> tensor<1x2x16xi16>
// CHECK:         fused.matmul "MatMul"(%x, %{{.*}}) {packed = 16 : i64, tiling
func.func @computed_words(%x: tensor<5x2xi16>, %w: tensor<2x16xi16>) -> tensor<5x16xi32> {
  %y = fused.matmul "MatMul"(%x, %w) {tiling = {columns = 16 : i64}} : (tensor<5x2xi16>, tensor<2x16xi16>) -> tensor<5x16xi32> epilogue(%i: index, %j: index, %acc: i32, %t: tensor<5x2xi16>, %u: tensor<2x16xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<5x16xi32>
}

// -----
// Pairs are neighbours among the channels of a tap, of one group.
// CHECK-LABEL: func.func @conv_bytes
// CHECK:         tensor<1x1x8x16xi8>>
// CHECK-NEXT:    fused.conv {{.*}} packed = 16 : i64, pads = array<i64: 0, 0, 0, 0>, pairs,
func.func @conv_bytes(%x: tensor<1x4x4x4xi16>) -> tensor<1x5x4x3xi32> {
  %w = fused.const dense<1> : tensor<5x4x1x2xi16>
  %y = fused.conv "Conv"(%x, %w) {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, tiling = {columns = 16 : i64}} : (tensor<1x4x4x4xi16>, tensor<5x4x1x2xi16>) -> tensor<1x5x4x3xi32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: i32, %t: tensor<1x4x4x4xi16>, %u: tensor<5x4x1x2xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<1x5x4x3xi32>
}

// -----
// Three channels of a group: the third of one tap is not multiplied with the first of the next.
// CHECK-LABEL: func.func @conv_odd
// CHECK:         tensor<2x1x6x16xi8>>
// CHECK-NEXT:    fused.conv {{.*}} packed = 16 : i64, pads = array<i64: 0, 0, 0, 0>, strides
func.func @conv_odd(%x: tensor<1x6x4x4xi16>) -> tensor<1x4x4x3xi32> {
  %w = fused.const dense<1> : tensor<4x3x1x2xi16>
  %y = fused.conv "Conv"(%x, %w) {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, tiling = {columns = 16 : i64}} : (tensor<1x6x4x4xi16>, tensor<4x3x1x2xi16>) -> tensor<1x4x4x3xi32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: i32, %t: tensor<1x6x4x4xi16>, %u: tensor<4x3x1x2xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<1x4x4x3xi32>
}

// -----
// A depthwise convolution has no panels of steps; its words stay.
// CHECK-LABEL: func.func @conv_depthwise
// CHECK:         tensor<1x1x2x4xi16>>
// CHECK-NEXT:    fused.conv {{.*}} packed = 4 : i64, pads = array<i64: 0, 0, 0, 0>, strides
func.func @conv_depthwise(%x: tensor<1x4x4x4xi16>) -> tensor<1x4x4x3xi32> {
  %w = fused.const dense<1> : tensor<4x1x1x2xi16>
  %y = fused.conv "Conv"(%x, %w) {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64, tiling = {columns = 4 : i64}} : (tensor<1x4x4x4xi16>, tensor<4x1x1x2xi16>) -> tensor<1x4x4x3xi32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: i32, %t: tensor<1x4x4x4xi16>, %u: tensor<4x1x1x2xi16>) {
    fused.yield %acc : i32
  }
  func.return %y : tensor<1x4x4x3xi32>
}
