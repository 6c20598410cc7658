// RUN: gecc-opt %s -p ge-choose-layouts | filecheck %s

// One TransData at each end; a constant per channel takes the layout for nothing.
// CHECK-LABEL: func.func @net
// CHECK-NEXT:    %[[X:.*]] = ge.TransData(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[C:.*]] = ge.Conv2D(%[[X]], %w) : {{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[R:.*]] = ge.Relu(%[[C]]) : {{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[B:.*]] = ge.Const dense<{{.*}}> : tensor<1x4x1x1xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[A:.*]] = ge.Mul(%[[R]], %[[B]]) : {{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[Y:.*]] = ge.TransData(%[[A]]) : {{.*}} -> tensor<1x4x8x8xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @net(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %b = ge.Const dense<[[[[0.5]], [[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x4x1x1xf32>
  %c = ge.Conv2D(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %r = ge.Relu(%c) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = ge.Mul(%r, %b) : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// TransData that is there already, in the wrong places, is chosen anew.
// CHECK-LABEL: func.func @again
// CHECK-NEXT:    ge.TransData
// CHECK-NEXT:    ge.MaxPool
// CHECK-NEXT:    ge.Relu
// CHECK-NEXT:    ge.MaxPool
// CHECK-NEXT:    ge.TransData
// CHECK-NEXT:    func.return
func.func @again(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %a = ge.TransData(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
  %p = ge.MaxPool(%a) kernel [1, 1] : (tensor<1x3x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
  %b = ge.TransData(%p) : (tensor<1x3x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x3x8x8xf32>
  %r = ge.Relu(%b) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %c = ge.TransData(%r) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
  %q = ge.MaxPool(%c) kernel [1, 1] : (tensor<1x3x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
  %y = ge.TransData(%q) : (tensor<1x3x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x3x8x8xf32>
  func.return %y : tensor<1x3x8x8xf32>
}

// Tokens of an image: the Transpose reads NHWC and moves nothing.
// CHECK-LABEL: func.func @tokens
// CHECK:         %[[T:.*]] = ge.Transpose({{%.*}}) perm [0, 2, 3, 1] : (tensor<1x4x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x8x8x4xf32>
// CHECK-NEXT:    ge.Reshape(%[[T]]) : (tensor<1x8x8x4xf32>) -> tensor<1x64x4xf32>
// CHECK-NEXT:    func.return
func.func @tokens(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x64x4xf32> {
  %c = ge.Conv2D(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %f = ge.Reshape(%c) : (tensor<1x4x8x8xf32>) -> tensor<1x4x64xf32>
  %t = ge.Transpose(%f) perm [0, 2, 1] : (tensor<1x4x64xf32>) -> tensor<1x64x4xf32>
  func.return %t : tensor<1x64x4xf32>
}

// An image made of tokens: split first, then the Transpose writes NHWC.
// CHECK-LABEL: func.func @image_of_tokens
// CHECK-NEXT:    %[[I:.*]] = ge.Reshape(%x) : (tensor<1x64x4xf32>) -> tensor<1x8x8x4xf32>
// CHECK-NEXT:    %[[T:.*]] = ge.Transpose(%[[I]]) perm [0, 3, 1, 2] : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    ge.Conv2D(%[[T]], %w)
func.func @image_of_tokens(%x: tensor<1x64x4xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %t = ge.Transpose(%x) perm [0, 2, 1] : (tensor<1x64x4xf32>) -> tensor<1x4x64xf32>
  %i = ge.Reshape(%t) : (tensor<1x4x64xf32>) -> tensor<1x4x8x8xf32>
  %c = ge.Conv2D(%i, %w) pads [1, 1, 1, 1] : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  func.return %c : tensor<1x4x8x8xf32>
}

// Channels last in the model: the Transpose writes NHWC.
// CHECK-LABEL: func.func @channels_last
// CHECK-NEXT:    %[[T:.*]] = ge.Transpose(%x) perm [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    ge.Conv2D(%[[T]], %w)
// CHECK-NEXT:    ge.Transpose
// CHECK-NEXT:    func.return
func.func @channels_last(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x8x8x4xf32> {
  %a = ge.Transpose(%x) perm [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %c = ge.Conv2D(%a, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %y = ge.Transpose(%c) perm [0, 2, 3, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  func.return %y : tensor<1x8x8x4xf32>
}

// Nothing asks for NHWC here, and tensors of other ranks have no layout.
// CHECK-LABEL: func.func @plain
// CHECK-NOT:     layout
// CHECK:         func.return
func.func @plain(%x: tensor<1x3x8x8xf32>, %y: tensor<3x8xf32>) -> (tensor<1x3x8x8xf32>, tensor<3x8xf32>) {
  %a = ge.Relu(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %b = ge.Relu(%y) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  func.return %a, %b : tensor<1x3x8x8xf32>, tensor<3x8xf32>
}
