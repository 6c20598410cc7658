// RUN: gecc-opt %s -p ge-canonicalize --remarks 2>&1 | filecheck %s
// RUN: gecc-opt %s -p ge-canonicalize 2>&1 | filecheck %s --check-prefix=QUIET

// CHECK:     remark: ge-canonicalize: ge.RealDiv (scores/Div) refused: the divisor is no power of two
// QUIET-NOT: remark
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<3.0> : tensor<f32>
  %0 = ge.RealDiv(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("scores/Div")
  func.return %0 : tensor<4xf32>
}
