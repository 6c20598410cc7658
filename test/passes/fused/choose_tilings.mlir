// RUN: gecc-opt %s -p 'fused-choose-tilings{target="x86-64-v4"}' | filecheck %s
// RUN: gecc-opt %s -p 'fused-choose-tilings{target="x86-64-v3"}' | filecheck %s --check-prefix V3
// RUN: gecc-opt %s -p 'fused-choose-tilings{target="z80"}' --verify-diagnostics | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: target 'z80' is not known
// UNKNOWN: hint: known targets: x86-64-v4, x86-64-v3

// A panel is a whole number of vectors, no wider than the columns need; which rows are best is the model's affair.
// CHECK-LABEL: func.func @products
// CHECK: "Wide"({{.*}}) {tiling = {columns = {{16|32|48|64}} : i64, full = {{[0-9]+}} : i64, rows = {{[0-9]+}} : i64, short = {{[0-9]+}} : i64}}
// CHECK: "Batched"({{.*}}) {tiling = {columns = {{16|32|48}} : i64,
// CHECK: "Row"({{.*}}) {tiling = {columns = 16 : i64,
// V3-LABEL: func.func @products
// V3: "Wide"({{.*}}) {tiling = {columns = {{8|16|24|32}} : i64,
// V3: "Batched"({{.*}}) {tiling = {columns = {{8|16|24|32}} : i64,
// V3: "Row"({{.*}}) {tiling = {columns = 8 : i64,

// A tiling that is there stays, on every target.
// CHECK-LABEL: func.func @kept
// CHECK: "Row"({{.*}}) {tiling = {columns = 8 : i64, full = 1 : i64, rows = 1 : i64, short = 0 : i64}}
// V3-LABEL: func.func @kept
// V3: "Row"({{.*}}) {tiling = {columns = 8 : i64, full = 1 : i64, rows = 1 : i64, short = 0 : i64}}

// Pixels of a pointwise convolution are rows of one product, else those of one output row are, or those of the only column,
// if its taps are one column too; panels are those of one group; a depthwise convolution has no register tile.
// CHECK-LABEL: func.func @convs
// CHECK: "Pointwise"{{.*}} tiling = {columns = {{[0-9]+}} : i64, full = {{[0-9][0-9]+|[5-9]}} : i64
// CHECK: "Rows"{{.*}} tiling = {columns = {{[0-9]+}} : i64, full = {{[0-3]}} : i64
// CHECK: "Column"{{.*}} tiling = {columns = 32 : i64, full = {{[0-9]+}} : i64, rows = {{[0-9][0-9]+|[8-9]}} : i64
// CHECK: "Columns"{{.*}} tiling = {columns = 32 : i64, full = 0 : i64, rows = 2 : i64, short = 1 : i64
// CHECK: "Groups"{{.*}} tiling = {columns = {{16|32}} : i64
// CHECK: "Depthwise"{{.*}} tiling = {columns = 32 : i64, full = 0 : i64, rows = 0 : i64, short = 0 : i64}}
// V3-LABEL: func.func @convs
// V3: "Depthwise"{{.*}} tiling = {columns = 32 : i64, full = 0 : i64, rows = 0 : i64, short = 0 : i64}}

func.func @products(%x: tensor<32x768xf32>, %w: tensor<768x3072xf32>, %a: tensor<3x4x9x20xf32>, %b: tensor<3x4x20x33xf32>, %one: tensor<1x8xf32>, %narrow: tensor<8x3xf32>) {
  %y = fused.matmul "Wide"(%x, %w) : (tensor<32x768xf32>, tensor<768x3072xf32>) -> tensor<32x3072xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<32x768xf32>, %u: tensor<768x3072xf32>) {
    fused.yield %acc : f32
  }
  %z = fused.matmul "Batched"(%a, %b) : (tensor<3x4x9x20xf32>, tensor<3x4x20x33xf32>) -> tensor<3x4x9x33xf32> epilogue(%g: index, %h: index, %i: index, %j: index, %acc: f32, %t: tensor<3x4x9x20xf32>, %u: tensor<3x4x20x33xf32>) {
    fused.yield %acc : f32
  }
  %s = fused.matmul "Row"(%one, %narrow) : (tensor<1x8xf32>, tensor<8x3xf32>) -> tensor<1x3xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<1x8xf32>, %u: tensor<8x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}
func.func @kept(%one: tensor<1x8xf32>, %narrow: tensor<8x3xf32>) {
  %s = fused.matmul "Row"(%one, %narrow) {tiling = {columns = 8, full = 1, rows = 1, short = 0}} : (tensor<1x8xf32>, tensor<8x3xf32>) -> tensor<1x3xf32> epilogue(%i: index, %j: index, %acc: f32, %t: tensor<1x8xf32>, %u: tensor<8x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}
func.func @convs(%x: tensor<1x32x14x15xf32>, %w1: tensor<64x32x1x1xf32>, %w3: tensor<64x32x3x3xf32>, %xc: tensor<1x32x90x1xf32>, %wc: tensor<64x32x3x1xf32>, %wg: tensor<64x16x3x3xf32>, %wd: tensor<32x1x3x3xf32>) {
  %p = fused.conv "Pointwise"(%x, %w1) {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x32x14x15xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x14x15xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x14x15xf32>, %u: tensor<64x32x1x1xf32>) {
    fused.yield %acc : f32
  }
  %r = fused.conv "Rows"(%x, %w3) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x32x14x15xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x14x15xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x14x15xf32>, %u: tensor<64x32x3x3xf32>) {
    fused.yield %acc : f32
  }
  %c = fused.conv "Column"(%xc, %wc) {kernel = array<i64: 3, 1>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x32x90x1xf32>, tensor<64x32x3x1xf32>) -> tensor<1x64x90x1xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x90x1xf32>, %u: tensor<64x32x3x1xf32>) {
    fused.yield %acc : f32
  }
  %cs = fused.conv "Columns"(%xc, %w3) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x32x90x1xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x90x1xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x90x1xf32>, %u: tensor<64x32x3x3xf32>) {
    fused.yield %acc : f32
  }
  %g = fused.conv "Groups"(%x, %wg) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x32x14x15xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x14x15xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x14x15xf32>, %u: tensor<64x16x3x3xf32>) {
    fused.yield %acc : f32
  }
  %d = fused.conv "Depthwise"(%x, %wd) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 32 : i64} : (tensor<1x32x14x15xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x14x15xf32> epilogue(%n: index, %c: index, %i: index, %j: index, %acc: f32, %t: tensor<1x32x14x15xf32>, %u: tensor<32x1x3x3xf32>) {
    fused.yield %acc : f32
  }
  func.return
}
