// RUN: gecc-opt %s -p ge-recognise-gelu --print-debuginfo | filecheck %s

// x / sqrt 2, Erf, + 1, * x, * 0.5; the result is known by all nodes it replaces.
// CHECK-LABEL: func.func @erf
// CHECK-NEXT:    %y = ge.Gelu(%x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc(fused["div", "erf", "add", "mul", "half"])
// CHECK-NEXT:    func.return %y
func.func @erf(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %sqrt2 = ge.Const dense<1.41421354> : tensor<f32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %half = ge.Const dense<0.5> : tensor<f32>
  %a = ge.RealDiv(%x, %sqrt2) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32> loc("div")
  %b = ge.Erf(%a) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("erf")
  %c = ge.Add(%b, %one) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32> loc("add")
  %d = ge.Mul(%x, %c) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("mul")
  %y = ge.Mul(%d, %half) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32> loc("half")
  func.return %y : tensor<2x3x8xf32>
}

// 0.5 x (1 + tanh(0.79788 x (1 + 0.044715 x x))), every constant on the left, of one element.
// CHECK-LABEL: func.func @tanh
// CHECK-NEXT:    ge.Gelu(%x) approximate tanh
// CHECK-NEXT:    func.return
func.func @tanh(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %k = ge.Const dense<[0.79788456]> : tensor<1xf32>
  %c = ge.Const dense<[0.044715]> : tensor<1xf32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %half = ge.Const dense<[[0.5]]> : tensor<1x1xf32>
  %cx = ge.Mul(%c, %x) : (tensor<1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %cxx = ge.Mul(%cx, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = ge.Add(%one, %cxx) : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %kx = ge.Mul(%k, %x) : (tensor<1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %t = ge.Mul(%kx, %p) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %h = ge.Tanh(%t) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %g = ge.Add(%one, %h) : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %hx = ge.Mul(%half, %x) : (tensor<1x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = ge.Mul(%hx, %g) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}

// Near miss: Erf has another use.
// CHECK-LABEL: func.func @other_use
// CHECK:         ge.Erf
// CHECK-NOT:     ge.Gelu
func.func @other_use(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = ge.Const dense<0.707106769> : tensor<f32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %half = ge.Const dense<0.5> : tensor<f32>
  %a = ge.Mul(%x, %s) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.Erf(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.Add(%b, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = ge.Mul(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.Mul(%d, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y, %b : tensor<8xf32>, tensor<8xf32>
}

// Near miss: Quick GELU.
// CHECK-LABEL: func.func @quick
// CHECK:         ge.Sigmoid
// CHECK-NOT:     ge.Gelu
func.func @quick(%x: tensor<8xf32>) -> tensor<8xf32> {
  %k = ge.Const dense<1.702> : tensor<f32>
  %a = ge.Mul(%x, %k) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.Sigmoid(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.Mul(%x, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Near miss: sqrt 2 is off by more than rounding.
// CHECK-LABEL: func.func @wrong_constant
// CHECK-NOT:     ge.Gelu
// CHECK:         func.return
func.func @wrong_constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %sqrt2 = ge.Const dense<1.4145> : tensor<f32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %half = ge.Const dense<0.5> : tensor<f32>
  %a = ge.RealDiv(%x, %sqrt2) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.Erf(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.Add(%b, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = ge.Mul(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.Mul(%d, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
