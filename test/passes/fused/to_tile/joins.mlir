// RUN: gecc-opt %s --split-input-file -p 'ge-to-fused,fused-fuse-pointwise,fused-to-tile{target="x86-64-v4"}' | filecheck %s

// Operands that lie one behind the other in the result and are made by kernels are joined; the reader and the makers, which
// would be merged with any other Concat, are kernels of their own.
// CHECK-LABEL: func.func @heads(
// CHECK:         %a = tile.launch @{{.*}} "Relu"
// CHECK:         %b = tile.launch @{{.*}} "Softmax"
// CHECK:         %c = tile.join %a, %b, %z : tensor<1x40x4xf32>, tensor<1x41x4xf32>, tensor<1x7x4xf32> -> tensor<1x88x4xf32>
// CHECK:         tile.launch @{{.*}} "Exp" ins(%c : tensor<1x88x4xf32>)
func.func @heads(%x: tensor<1x40x4xf32>, %y: tensor<1x41x4xf32>, %z: tensor<1x7x4xf32>) -> tensor<1x88x4xf32> {
  %a = ge.Relu(%x) : (tensor<1x40x4xf32>) -> tensor<1x40x4xf32>
  %b = ge.Softmax(%y) axis 2 : (tensor<1x41x4xf32>) -> tensor<1x41x4xf32>
  %c = ge.Concat(%a, %b, %z) axis 1 : (tensor<1x40x4xf32>, tensor<1x41x4xf32>, tensor<1x7x4xf32>) -> tensor<1x88x4xf32>
  %d = ge.Exp(%c) : (tensor<1x88x4xf32>) -> tensor<1x88x4xf32>
  func.return %d : tensor<1x88x4xf32>
}

// -----
// The same value twice, and channels-last tensors joined by rows.
// CHECK-LABEL: func.func @rows(
// CHECK:         tile.join %a, %x, %b, %a : tensor<1x8x5x6xf32, #ge.layout<NHWC>>, tensor<1x8x3x6xf32, #ge.layout<NHWC>>,
func.func @rows(%x: tensor<1x8x3x6xf32, #ge.layout<NHWC>>, %y: tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x18x6xf32, #ge.layout<NHWC>> {
  %a = ge.Relu(%y) : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x5x6xf32, #ge.layout<NHWC>>
  %b = ge.Exp(%y) : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x5x6xf32, #ge.layout<NHWC>>
  %c = ge.Concat(%a, %x, %b, %a) axis 2 : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>, tensor<1x8x3x6xf32, #ge.layout<NHWC>>, tensor<1x8x5x6xf32, #ge.layout<NHWC>>, tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x18x6xf32, #ge.layout<NHWC>>
  func.return %c : tensor<1x8x18x6xf32, #ge.layout<NHWC>>
}

// -----
// Near misses: an axis inside another ...
// CHECK-LABEL: func.func @inside(
// CHECK-NOT:     tile.join
func.func @inside(%x: tensor<2x400xf32>, %y: tensor<2x400xf32>) -> tensor<2x800xf32> {
  %a = ge.Softmax(%x) axis 1 : (tensor<2x400xf32>) -> tensor<2x400xf32>
  %b = ge.Softmax(%y) axis 1 : (tensor<2x400xf32>) -> tensor<2x400xf32>
  %c = ge.Concat(%a, %b) axis 1 : (tensor<2x400xf32>, tensor<2x400xf32>) -> tensor<2x800xf32>
  func.return %c : tensor<2x800xf32>
}

// -----
// ... channels of channels-last tensors ...
// CHECK-LABEL: func.func @channels(
// CHECK-NOT:     tile.join
func.func @channels(%x: tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x16x5x6xf32, #ge.layout<NHWC>> {
  %a = ge.Relu(%x) : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x5x6xf32, #ge.layout<NHWC>>
  %b = ge.Exp(%x) : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x8x5x6xf32, #ge.layout<NHWC>>
  %c = ge.Concat(%a, %b) axis 1 : (tensor<1x8x5x6xf32, #ge.layout<NHWC>>, tensor<1x8x5x6xf32, #ge.layout<NHWC>>) -> tensor<1x16x5x6xf32, #ge.layout<NHWC>>
  func.return %c : tensor<1x16x5x6xf32, #ge.layout<NHWC>>
}

// -----
// ... few bytes ...
// CHECK-LABEL: func.func @small(
// CHECK-NOT:     tile.join
func.func @small(%x: tensor<100xf32>) -> tensor<200xf32> {
  %a = ge.Softmax(%x) axis 0 : (tensor<100xf32>) -> tensor<100xf32>
  %b = ge.Relu(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %c = ge.Concat(%a, %b) axis 0 : (tensor<100xf32>, tensor<100xf32>) -> tensor<200xf32>
  func.return %c : tensor<200xf32>
}

// -----
// ... mostly bytes that no kernel makes here: inputs, ranges of other tensors, what is returned itself.
// CHECK-LABEL: func.func @given(
// CHECK-NOT:     tile.join
func.func @given(%x: tensor<100x4xf32>, %y: tensor<300x4xf32>) -> (tensor<600x4xf32>, tensor<100x4xf32>) {
  %a = ge.Softmax(%x) axis 1 : (tensor<100x4xf32>) -> tensor<100x4xf32>
  %b = ge.Softmax(%y) axis 1 : (tensor<300x4xf32>) -> tensor<300x4xf32>
  %s = ge.Slice(%b) starts [0] ends [200] axes [0] steps [1] : (tensor<300x4xf32>) -> tensor<200x4xf32>
  %c = ge.Concat(%y, %s, %a) axis 0 : (tensor<300x4xf32>, tensor<200x4xf32>, tensor<100x4xf32>) -> tensor<600x4xf32>
  func.return %c, %a : tensor<600x4xf32>, tensor<100x4xf32>
}
