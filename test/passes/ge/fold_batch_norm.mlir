// RUN: gecc-opt %s -p ge-fold-batch-norm | filecheck %s

// scale / sqrt(var + eps) = [2, 1], offset - mean * that = [-1, 3].
// CHECK-LABEL: func.func @conv
// CHECK-DAG:     %[[W:.*]] = ge.Const dense<{{.*}}2.000000e+00{{.*}}4.000000e+00{{.*}}> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[B:.*]] = ge.Const dense<[-1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK:         %y = ge.Conv2D(%x, %[[W]], %[[B]]) : {{.*}} -> tensor<1x2x3x3xf32>
// CHECK-NEXT:    func.return %y
func.func @conv(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = ge.Const dense<[[[[1.0]]], [[[4.0]]]]> : tensor<2x1x1x1xf32>
  %scale = ge.Const dense<[2.0, 1.0]> : tensor<2xf32>
  %offset = ge.Const dense<[1.0, 3.0]> : tensor<2xf32>
  %mean = ge.Const dense<[1.0, 0.0]> : tensor<2xf32>
  %var = ge.Const dense<[0.75, 0.75]> : tensor<2xf32>
  %c = ge.Conv2D(%x, %w) : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.BatchNorm(%c, %scale, %offset, %mean, %var) epsilon 0.25 : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// A shift per channel is a bias, also where the weight is an input.
// CHECK-LABEL: func.func @shift
// CHECK-NEXT:    %[[B:.*]] = ge.Const dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %y = ge.Conv2D(%x, %w, %[[B]])
// CHECK-NEXT:    func.return %y
func.func @shift(%x: tensor<1x1x3x3xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %b = ge.Const dense<[[[[1.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>
  %c = ge.Conv2D(%x, %w) : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.Add(%c, %b) : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// Alone: one Mul and one Add.
// CHECK-LABEL: func.func @alone
// CHECK:         %[[M:.*]] = ge.Mul(%x, {{%.*}}) : (tensor<1x2x3xf32>, tensor<2x1xf32>)
// CHECK-NEXT:    ge.Add(%[[M]], {{%.*}}) : (tensor<1x2x3xf32>, tensor<2x1xf32>)
// CHECK-NEXT:    func.return
func.func @alone(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %one = ge.Const dense<[2.0, 1.0]> : tensor<2xf32>
  %y = ge.BatchNorm(%x, %one, %one, %one, %one) : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  func.return %y : tensor<1x2x3xf32>
}

// Near misses: another use of the result; a constant that varies along the width.
// CHECK-LABEL: func.func @other_use
// CHECK:         %[[C:.*]] = ge.Conv2D(%x, %w)
// CHECK-NEXT:    %y = ge.Add(%[[C]]
// CHECK-NEXT:    func.return %y, %[[C]]
func.func @other_use(%x: tensor<1x1x3x3xf32>, %w: tensor<2x1x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %b = ge.Const dense<1.0> : tensor<f32>
  %c = ge.Conv2D(%x, %w) : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.Add(%c, %b) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// CHECK-LABEL: func.func @per_column
// CHECK:         ge.Conv2D(%x, %w)
// CHECK-NEXT:    ge.Add
func.func @per_column(%x: tensor<1x1x3x3xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %b = ge.Const dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = ge.Conv2D(%x, %w) : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.Add(%c, %b) : (tensor<1x2x3x3xf32>, tensor<3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// Near miss: integers do not scale by a reciprocal.
// CHECK-LABEL: func.func @integers
// CHECK:         ge.MatMulV2
// CHECK-NEXT:    ge.RealDiv
func.func @integers(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %w = ge.Const dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %two = ge.Const dense<2> : tensor<i32>
  %c = ge.MatMulV2(%x, %w) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %y = ge.RealDiv(%c, %two) : (tensor<2x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  func.return %y : tensor<2x2xi32>
}

// Near miss: weights of f16 whose products are left in f32 would be rounded again; a shift goes into the bias.
// CHECK-LABEL: func.func @wide_results
// CHECK:         %w = ge.Const {{.*}} : tensor<2x2xf16>
// CHECK:         %c = ge.MatMulV2(%x, %w) : (tensor<1x2xf16>, tensor<2x2xf16>) -> tensor<1x2xf32>
// CHECK-NEXT:    %s = ge.Mul(%c
// CHECK:         ge.MatMulV2(%x, %w, {{%.*}}) : (tensor<1x2xf16>, tensor<2x2xf16>, tensor<2xf32>) -> tensor<1x2xf32>
func.func @wide_results(%x: tensor<1x2xf16>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = ge.Const dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %k = ge.Const dense<[0.3, 0.7]> : tensor<2xf32>
  %c = ge.MatMulV2(%x, %w) : (tensor<1x2xf16>, tensor<2x2xf16>) -> tensor<1x2xf32>
  %s = ge.Mul(%c, %k) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %d = ge.MatMulV2(%x, %w) : (tensor<1x2xf16>, tensor<2x2xf16>) -> tensor<1x2xf32>
  %t = ge.Add(%d, %k) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %s, %t : tensor<1x2xf32>, tensor<1x2xf32>
}
