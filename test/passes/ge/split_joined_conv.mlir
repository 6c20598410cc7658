// RUN: gecc-opt %s -p ge-split-joined-conv --print-debuginfo | filecheck %s

// The parts of a constant weight follow the parts of the Concat; the bias is added once.
// CHECK-LABEL: func.func @two
// CHECK-NEXT:    %b = ge.Const
// CHECK-NEXT:    %w = ge.Const dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %z = ge.Conv2D(%x, %w, %b)
// CHECK-NEXT:    %w_1 = ge.Const dense<3.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %z_1 = ge.Conv2D(%y, %w_1) : {{.*}} loc(fused["join", "conv"])
// CHECK-NEXT:    %z_2 = ge.Add(%z, %z_1) : {{.*}} loc(fused["join", "conv"])
// CHECK-NEXT:    func.return %z_2
func.func @two(%x: tensor<1x2x4x4xf32>, %y: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %b = ge.Const dense<[5.0]> : tensor<1xf32>
  %w = ge.Const dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf32>
  %j = ge.Concat(%x, %y) axis 1 : (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x3x4x4xf32> loc("join")
  %z = ge.Conv2D(%j, %w, %b) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32> loc("conv")
  func.return %z : tensor<1x1x4x4xf32>
}

// Strides, pads and dilations stay; -3 is the same axis.
// CHECK-LABEL: func.func @strided
// CHECK:         ge.Conv2D(%x, %w) strides [2, 2] pads [2, 2, 2, 2] dilations [2, 2]
// CHECK:         ge.Conv2D(%y, %w_1) strides [2, 2] pads [2, 2, 2, 2] dilations [2, 2]
// CHECK-NOT:     ge.Concat
// CHECK:         ge.Add
func.func @strided(%x: tensor<1x1x8x8xf32>, %y: tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32> {
  %w = ge.Const dense<1.0> : tensor<1x2x3x3xf32>
  %j = ge.Concat(%x, %y) axis -3 : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x2x8x8xf32>
  %z = ge.Conv2D(%j, %w) strides [2, 2] pads [2, 2, 2, 2] dilations [2, 2] : (tensor<1x2x8x8xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x4x4xf32>
  func.return %z : tensor<1x1x4x4xf32>
}

// Near misses: another use of the Concat; another axis; more partial sums than joined elements; groups; a weight that is
// computed; bytes.
// CHECK-LABEL: func.func @not_split
// CHECK-COUNT-6: ge.Concat
// CHECK-NOT:   ge.Add
func.func @not_split(%x: tensor<1x1x4x4xf32>, %v: tensor<1x2x1x1xf32>, %i: tensor<1x1x4x4xi32>) -> (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x8x4xf32>, tensor<1x9x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xi32>) {
  %w = ge.Const dense<1.0> : tensor<1x2x1x1xf32>
  %w1 = ge.Const dense<1.0> : tensor<1x1x1x1xf32>
  %w9 = ge.Const dense<1.0> : tensor<9x2x1x1xf32>
  %w2 = ge.Const dense<1.0> : tensor<2x1x1x1xf32>
  %wi = ge.Const dense<1> : tensor<1x2x1x1xi32>
  %j = ge.Concat(%x, %x) axis 1 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %a = ge.Conv2D(%j, %w) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %k = ge.Concat(%x, %x) axis 2 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x8x4xf32>
  %b = ge.Conv2D(%k, %w1) : (tensor<1x1x8x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8x4xf32>
  %l = ge.Concat(%x, %x) axis 1 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = ge.Conv2D(%l, %w9) : (tensor<1x2x4x4xf32>, tensor<9x2x1x1xf32>) -> tensor<1x9x4x4xf32>
  %m = ge.Concat(%x, %x) axis 1 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %d = ge.Conv2D(%m, %w2) group 2 : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %n = ge.Concat(%x, %x) axis 1 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %e = ge.Conv2D(%n, %v) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %o = ge.Concat(%i, %i) axis 1 : (tensor<1x1x4x4xi32>, tensor<1x1x4x4xi32>) -> tensor<1x2x4x4xi32>
  %f = ge.Conv2D(%o, %wi) : (tensor<1x2x4x4xi32>, tensor<1x2x1x1xi32>) -> tensor<1x1x4x4xi32>
  func.return %j, %a, %b, %c, %d, %e, %f : tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x8x4xf32>, tensor<1x9x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xi32>
}
