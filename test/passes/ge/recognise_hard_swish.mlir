// RUN: gecc-opt %s -p ge-recognise-hard-swish | filecheck %s

// Paddle: Add 3, Clip(0, 6), Mul x, Div 6.
// CHECK-LABEL: func.func @paddle
// CHECK-NEXT:    %y = ge.HardSwish(%x) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
// CHECK-NEXT:    func.return %y
func.func @paddle(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %three = ge.Const dense<[3.0]> : tensor<1xf32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %six = ge.Const dense<6.0> : tensor<f32>
  %a = ge.Add(%x, %three) : (tensor<1x4x2x2xf32>, tensor<1xf32>) -> tensor<1x4x2x2xf32>
  %b = ge.ClipByValue(%a, %zero, %six) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x4x2x2xf32>
  %c = ge.Mul(%x, %b) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %y = ge.RealDiv(%c, %six) : (tensor<1x4x2x2xf32>, tensor<f32>) -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// The division before the product.
// CHECK-LABEL: func.func @clip_first
// CHECK-NEXT:    ge.HardSwish(%x)
// CHECK-NEXT:    func.return
func.func @clip_first(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = ge.Const dense<3.0> : tensor<f32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %six = ge.Const dense<6.0> : tensor<f32>
  %a = ge.Add(%three, %x) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %b = ge.ClipByValue(%a, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.RealDiv(%b, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.Mul(%c, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid
// CHECK-NEXT:    ge.HardSwish(%x)
// CHECK-NEXT:    func.return
func.func @hard_sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = ge.HardSigmoid(%x) alpha 0.166666672 : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.Mul(%x, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Near miss: the gate of squeeze-and-excitation, alpha 0.2 (the default).
// CHECK-LABEL: func.func @squeeze
// CHECK-NEXT:    ge.HardSigmoid
// CHECK-NEXT:    ge.Mul
func.func @squeeze(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = ge.HardSigmoid(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.Mul(%x, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Near miss: the clip has another use.
// CHECK-LABEL: func.func @other_use
// CHECK:         ge.ClipByValue
// CHECK-NOT:     ge.HardSwish
func.func @other_use(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %three = ge.Const dense<3.0> : tensor<f32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %six = ge.Const dense<6.0> : tensor<f32>
  %a = ge.Add(%x, %three) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.ClipByValue(%a, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.Mul(%x, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.RealDiv(%c, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y, %b : tensor<8xf32>, tensor<8xf32>
}

// Near miss: x + 2.
// CHECK-LABEL: func.func @wrong_shift
// CHECK-NOT:     ge.HardSwish
// CHECK:         func.return
func.func @wrong_shift(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = ge.Const dense<2.0> : tensor<f32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %six = ge.Const dense<6.0> : tensor<f32>
  %a = ge.Add(%x, %two) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.ClipByValue(%a, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.Mul(%x, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.RealDiv(%c, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
