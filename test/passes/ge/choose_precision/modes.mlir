// RUN: gecc-opt %s -p ge-choose-precision{mode=mixed_float16} | filecheck %s --check-prefix=MIXED
// RUN: gecc-opt %s -p ge-choose-precision{mode=allow_mix_precision_bf16} | filecheck %s --check-prefix=BF16
// RUN: gecc-opt %s -p ge-choose-precision{mode=allow_fp32_to_fp16} | filecheck %s --check-prefix=CUBE
// RUN: gecc-opt %s -p ge-choose-precision{mode=cube_fp16in_fp32out} | filecheck %s --check-prefix=WIDE
// RUN: gecc-opt %s -p ge-choose-precision{mode=fp32} | filecheck %s --check-prefix=FP32
// RUN: gecc-opt %s -p ge-choose-precision | filecheck %s --check-prefix=ORIGIN
// RUN: gecc-opt %s -p ge-choose-precision{mode=mixed_float16} --remarks 2>&1 | filecheck %s --check-prefix=WHY

// WHY-DAG: ge.Exp refused: black list: its result grows beyond any narrow range
// WHY-DAG: ge.Add refused: grey list: what comes before it is not in f16
// WHY-DAG: ge.Mul refused: 1 elements of a constant operand are beyond the range of f16
// WHY-DAG: ge.Sub refused: 1 elements of a constant operand would become 0 in f16
// WHY-DAG: ge.Mul refused: grey list: a square needs the range and the digits of f32
// WHY-DAG: ge.Neg refused: grey list: what comes before it is not in f16

// White: the product. Grey: follow what comes before, when all of it is narrow.
// MIXED-LABEL: func.func @grey
// MIXED:         %y = ge.MatMulV2({{.*}}) : (tensor<2x2xf16>, tensor<2x2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
// MIXED-NEXT:    %z = ge.Relu(%y) : (tensor<2x2xf16>) -> tensor<2x2xf16>
// MIXED-NEXT:    %[[Z:.*]] = ge.Cast(%z) : (tensor<2x2xf16>) -> tensor<2x2xf32>
// MIXED-NEXT:    %e = ge.Exp(%[[Z]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// MIXED-NEXT:    %s = ge.Add(%e, %[[Z]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// MIXED-NEXT:    func.return %s
// BF16-LABEL: func.func @grey
// BF16:         %z = ge.Relu(%y) : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
// BF16:         %e = ge.Exp({{.*}}) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CUBE-LABEL: func.func @grey
// CUBE:         %y = ge.MatMulV2({{.*}}) : (tensor<2x2xf16>, tensor<2x2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
// CUBE-NEXT:    %[[Y:.*]] = ge.Cast(%y) : (tensor<2x2xf16>) -> tensor<2x2xf32>
// CUBE-NEXT:    %z = ge.Relu(%[[Y]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// WIDE-LABEL: func.func @grey
// WIDE:         %b = ge.Const {{.*}} : tensor<2xf32>
// WIDE-NEXT:    %y = ge.MatMulV2({{.*}}) : (tensor<2x2xf16>, tensor<2x2xf16>, tensor<2xf32>) -> tensor<2x2xf32>
// WIDE-NEXT:    %z = ge.Relu(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// FP32-LABEL: func.func @grey
// FP32-NOT:     f16
// FP32:         func.return %s
// ORIGIN-LABEL: func.func @grey
// ORIGIN-NOT:     f16
// ORIGIN:         func.return %s
func.func @grey(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = ge.Const dense<0.5> : tensor<2x2xf32>
  %b = ge.Const dense<0.25> : tensor<2xf32>
  %y = ge.MatMulV2(%x, %w, %b) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %z = ge.Relu(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = ge.Exp(%z) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = ge.Add(%e, %z) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %s : tensor<2x2xf32>
}

// Near misses: constants that the narrow type does not bear keep an operation on the grey list wide; so does an input.
// MIXED-LABEL: func.func @constants
// MIXED:         %m = ge.Mul({{.*}}) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
// MIXED:         %t = ge.Sub({{.*}}) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
// MIXED:         %n = ge.Neg(%x) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
// BF16-LABEL: func.func @constants
// BF16:         %m = ge.Mul({{.*}}) : (tensor<1x1x2x2xbf16>, tensor<bf16>) -> tensor<1x1x2x2xbf16>
// WIDE-LABEL: func.func @constants
// WIDE:         ge.Conv2D({{.*}}) : (tensor<1x1x2x2xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x2x2xf32>
func.func @constants(%x: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %w = ge.Const dense<0.5> : tensor<1x1x1x1xf32>
  %big = ge.Const dense<1.0e5> : tensor<f32>
  %small = ge.Const dense<1.0e-12> : tensor<f32>
  %y = ge.Conv2D(%x, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %m = ge.Mul(%y, %big) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %t = ge.Sub(%y, %small) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %n = ge.Neg(%x) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  func.return %m, %t, %n : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// Near miss: a square is a power.
// MIXED-LABEL: func.func @square
// MIXED:         ge.Mul({{.*}}) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
func.func @square(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = ge.MatMulV2(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = ge.Mul(%y, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %z : tensor<2x2xf32>
}

// A model in f16 is widened by fp32, and its inputs and outputs stay; with cube_fp16in_fp32out only sums are.
// FP32-LABEL: func.func @half
// FP32:         ge.MatMulV2({{.*}}) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// FP32-NEXT:    %[[Y:.*]] = ge.Cast(%y) : (tensor<2x2xf32>) -> tensor<2x2xf16>
// FP32-NEXT:    func.return %[[Y]] : tensor<2x2xf16>
// WIDE-LABEL: func.func @half
// WIDE:         %y = ge.MatMulV2(%x, %x) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
// MIXED-LABEL: func.func @half
// MIXED-NEXT:    %y = ge.MatMulV2(%x, %x) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
func.func @half(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %y = ge.MatMulV2(%x, %x) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  func.return %y : tensor<2x2xf16>
}

// Inside a loop: what it carries keeps its type, casts stand inside.
// MIXED-LABEL: func.func @loop
// MIXED:       ^bb0(%i: tensor<i64>, %h: tensor<2x2xf32>):
// MIXED:         %[[H:.*]] = ge.Cast(%h) : (tensor<2x2xf32>) -> tensor<2x2xf16>
// MIXED:         %g = ge.MatMulV2(%[[H]], %[[H]]) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
// MIXED-NEXT:    %[[G:.*]] = ge.Cast(%g) : (tensor<2x2xf16>) -> tensor<2x2xf32>
// MIXED-NEXT:    ge.Yield %true, %[[G]]
func.func @loop(%n: tensor<i64>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<2x2xf32>):
    %true = ge.Const dense<true> : tensor<i1>
    %g = ge.MatMulV2(%h, %h) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    ge.Yield %true, %g : tensor<i1>, tensor<2x2xf32>
  }
  func.return %y : tensor<2x2xf32>
}
