// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: x has element type i1, expected one of f32, f64, f16, bf16, i8, i16, i32, i64
func.func @main(%a0: tensor<2xi1>) {
  %r = ge.Relu(%a0) : (tensor<2xi1>) -> tensor<2xi1>
  func.return
}

// -----

// CHECK: result has type tensor<3xf32>, expected tensor<2xf32>: dimension 0 is 3, not 2
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.Exp(%a0) : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: result has type tensor<2x1xf32>, expected tensor<2xf32>: rank 2 is not 1
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.Exp(%a0) : (tensor<2xf32>) -> tensor<2x1xf32>
  func.return
}

// -----

// CHECK: result has type tensor<2xf32>, expected tensor<2xi1>: element type f32 is not i1
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.IsNan(%a0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: shapes [2, 3, 4] and [3, 5] do not broadcast: 4 and 5 in dimension 2
func.func @main(%a0: tensor<2x3x4xf32>, %a1: tensor<3x5xf32>) {
  %r = ge.Add(%a0, %a1) : (tensor<2x3x4xf32>, tensor<3x5xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: x2 has element type f64, but x1 has f32
func.func @main(%a0: tensor<2xf32>, %a1: tensor<2xf64>) {
  %r = ge.Sub(%a0, %a1) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: x2 has layout row-major, but x1 has #ge.layout<NHWC>
func.func @main(%a0: tensor<1x4x6x6xf32, #ge.layout<NHWC>>, %a1: tensor<1x4x1x1xf32>) {
  %r = ge.Mul(%a0, %a1) : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>, tensor<1x4x1x1xf32>) -> tensor<1x4x6x6xf32, #ge.layout<NHWC>>
  func.return
}

// -----

// CHECK: result has type tensor<1x4x6x6xf32>, expected tensor<1x4x6x6xf32, #ge.layout<NHWC>>: layout row-major is not #ge.layout<NHWC>
func.func @main(%a0: tensor<1x4x6x6xf32, #ge.layout<NHWC>>) {
  %r = ge.Relu(%a0) : (tensor<1x4x6x6xf32, #ge.layout<NHWC>>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// CHECK: x1 has element type f32, for which fmod must be true
func.func @main(%a0: tensor<2xf32>, %a1: tensor<2xf32>) {
  %r = ge.Mod(%a0, %a1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: cond has element type f32, expected one of i1
func.func @main(%a0: tensor<2xf32>, %a1: tensor<2xf32>, %a2: tensor<2xf32>) {
  %r = ge.Select(%a0, %a1, %a2) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: min has rank 1 [1], expected rank 0
func.func @main(%a0: tensor<2xf32>, %a1: tensor<1xf32>, %a2: tensor<f32>) {
  %r = ge.ClipByValue(%a0, %a1, %a2) : (tensor<2xf32>, tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: result has element type index, expected one of
func.func @main(%a0: tensor<2xf32>) {
  %r = ge.Cast(%a0) : (tensor<2xf32>) -> tensor<2xindex>
  func.return
}

// -----

// CHECK: found "fast", expected one of none, tanh
func.func @main(%a0: tensor<2xf32>) {
  %r = "ge.Gelu"(%a0) <{approximate = "fast"}> : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: found 1 : i64, expected an f32 or f64 number
func.func @main(%a0: tensor<2xf32>) {
  %r = "ge.Elu"(%a0) <{alpha = 1 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
