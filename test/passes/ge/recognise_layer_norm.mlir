// RUN: gecc-opt %s -p ge-recognise-layer-norm | filecheck %s

// ReduceMean, Sub, Pow 2, ReduceMean, Add eps, Sqrt, Div, Mul gamma, Add beta.
// CHECK-LABEL: func.func @legacy
// CHECK-NEXT:    %gamma = ge.Const
// CHECK-NEXT:    %beta = ge.Const
// CHECK:         %y = ge.LayerNorm(%x, {{%.*}}, {{%.*}}) axis 2 epsilon 1.0e-06 : {{.*}} -> tensor<2x5x4xf32>
// CHECK-NEXT:    func.return %y
func.func @legacy(%x: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %two = ge.Const dense<2.0> : tensor<f32>
  %eps = ge.Const dense<1.0e-06> : tensor<f32>
  %gamma = ge.Const dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %beta = ge.Const dense<[0.5, 0.0, 0.5, 0.0]> : tensor<4xf32>
  %m = ge.ReduceMean(%x) axes [-1] keep_dims true : (tensor<2x5x4xf32>) -> tensor<2x5x1xf32>
  %d = ge.Sub(%x, %m) : (tensor<2x5x4xf32>, tensor<2x5x1xf32>) -> tensor<2x5x4xf32>
  %p = ge.Pow(%d, %two) : (tensor<2x5x4xf32>, tensor<f32>) -> tensor<2x5x4xf32>
  %v = ge.ReduceMean(%p) axes [-1] keep_dims true : (tensor<2x5x4xf32>) -> tensor<2x5x1xf32>
  %e = ge.Add(%v, %eps) : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %s = ge.Sqrt(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = ge.RealDiv(%d, %s) : (tensor<2x5x4xf32>, tensor<2x5x1xf32>) -> tensor<2x5x4xf32>
  %g = ge.Mul(%n, %gamma) : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  %y = ge.Add(%g, %beta) : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  func.return %y : tensor<2x5x4xf32>
}

// Channels first: the norm runs over the last dimension, between two Transposes.
// CHECK-LABEL: func.func @channels
// CHECK:         %[[T:.*]] = ge.Transpose(%x) perm [0, 2, 3, 1]
// CHECK-NEXT:    %[[N:.*]] = ge.LayerNorm(%[[T]]) axis 3
// CHECK-NEXT:    ge.Transpose(%[[N]]) perm [0, 3, 1, 2]
// CHECK-NEXT:    func.return
func.func @channels(%x: tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32> {
  %eps = ge.Const dense<1.0e-06> : tensor<f32>
  %m = ge.ReduceMean(%x) axes [1] keep_dims true : (tensor<1x4x2x3xf32>) -> tensor<1x1x2x3xf32>
  %d = ge.Sub(%x, %m) : (tensor<1x4x2x3xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x2x3xf32>
  %p = ge.Mul(%d, %d) : (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  %v = ge.ReduceMean(%p) axes [1] keep_dims true : (tensor<1x4x2x3xf32>) -> tensor<1x1x2x3xf32>
  %e = ge.Add(%v, %eps) : (tensor<1x1x2x3xf32>, tensor<f32>) -> tensor<1x1x2x3xf32>
  %s = ge.Sqrt(%e) : (tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32>
  %n = ge.RealDiv(%d, %s) : (tensor<1x4x2x3xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x2x3xf32>
  func.return %n : tensor<1x4x2x3xf32>
}

// x * (1 / sqrt(mean(x x) + eps)) * gamma.
// CHECK-LABEL: func.func @rms
// CHECK:         ge.RMSNorm(%x, {{%.*}}) axis 1 epsilon 1.0e-06
// CHECK-NEXT:    func.return
func.func @rms(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %two = ge.Const dense<2.0> : tensor<f32>
  %eps = ge.Const dense<1.0e-06> : tensor<f32>
  %gamma = ge.Const dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %p = ge.Pow(%x, %two) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %v = ge.ReduceMean(%p) axes [-1] keep_dims true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %e = ge.Add(%eps, %v) : (tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s = ge.Sqrt(%e) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = ge.Reciprocal(%s) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = ge.Mul(%x, %r) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %y = ge.Mul(%gamma, %n) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// Near miss: epsilon is an input.
// CHECK-LABEL: func.func @epsilon
// CHECK-NOT:     Norm
// CHECK:         func.return
func.func @epsilon(%x: tensor<3x4xf32>, %eps: tensor<f32>) -> tensor<3x4xf32> {
  %m = ge.ReduceMean(%x) axes [-1] keep_dims true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = ge.Sub(%x, %m) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %p = ge.Mul(%d, %d) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = ge.ReduceMean(%p) axes [-1] keep_dims true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %e = ge.Add(%v, %eps) : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %s = ge.Sqrt(%e) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = ge.RealDiv(%d, %s) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %n : tensor<3x4xf32>
}

// Near miss: epsilon outside the root.
// CHECK-LABEL: func.func @outside
// CHECK-NOT:     Norm
// CHECK:         func.return
func.func @outside(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %eps = ge.Const dense<1.0e-06> : tensor<f32>
  %m = ge.ReduceMean(%x) axes [-1] keep_dims true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = ge.Sub(%x, %m) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %p = ge.Mul(%d, %d) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = ge.ReduceMean(%p) axes [-1] keep_dims true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s = ge.Sqrt(%v) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %e = ge.Add(%s, %eps) : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %n = ge.RealDiv(%d, %e) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %n : tensor<3x4xf32>
}
