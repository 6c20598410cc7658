// RUN: gecc-opt %s -p ge-choose-precision{mode=fp16} 2>&1 | filecheck %s
// RUN: gecc-opt %s -p ge-choose-precision{mode=force_fp16} 2>&1 | filecheck %s

// CHECK: precision {{.*}}fp16: 7 operations changed, 15 kept
// CHECK-NEXT: 6 f32 to f16: mode fp16
// CHECK-NEXT: 1 bf16 to f16: mode fp16
// CHECK-DAG: 2 kept: it computes indices or sizes (1 Mul, 1 Floor)
// CHECK-DAG: 2 kept: it quantises, and scales need the range of f32 (1 RealDiv, 1 Round)
// CHECK-DAG: 2 kept: it scales sums of integers, which are beyond a narrow range (1 Add, 1 Mul)
// CHECK-DAG: 2 kept: f64 is what the model asks for (1 Exp, 1 Cast)
// CHECK-DAG: 2 kept: scales of quantisation need the range of f32 (1 Quantize, 1 Dequantize)
// CHECK-DAG: 1 kept: coordinates need the digits of f32 (1 GridSample)
// CHECK-DAG: 4 kept: its types are what it is about (4 Cast)
// CHECK-DAG: 1 elements of constants are too small for the narrow type and became 0
// CHECK-DAG: 2 elements of 1 constants were outside the range of f16 and were clipped to it: '?'

// One Cast at each border, none between neighbours; constants are converted and clipped; infinity stays.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[X:.*]] = ge.Cast(%x) : (tensor<1x2xf32>) -> tensor<1x2xf16>
// CHECK-NEXT:    %w = ge.Const dense<{{.*}}6.550400e+04, -6.550400e+04{{.*}}0.000000e+00, 1.000000e+00{{.*}}> : tensor<2x2xf16>
// CHECK-NEXT:    %b = ge.Const dense<"0x00FC003C"> : tensor<2xf16>
// CHECK-NEXT:    %y = ge.MatMulV2(%[[X]], %w, %b) : (tensor<1x2xf16>, tensor<2x2xf16>, tensor<2xf16>) -> tensor<1x2xf16>
// CHECK-NEXT:    %z = ge.Relu(%y) : (tensor<1x2xf16>) -> tensor<1x2xf16>
// CHECK-NEXT:    %s = ge.Add(%z, %y) : (tensor<1x2xf16>, tensor<1x2xf16>) -> tensor<1x2xf16>
// CHECK-NEXT:    %[[R:.*]] = ge.Cast(%s) : (tensor<1x2xf16>) -> tensor<1x2xf32>
// CHECK-NEXT:    func.return %[[R]] : tensor<1x2xf32>
func.func @chain(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = ge.Const dense<[[1.0e5, -1.0e38], [1.0e-9, 1.0]]> : tensor<2x2xf32>
  %b = ge.Const dense<"0x000080FF0000803F"> : tensor<2xf32>
  %y = ge.MatMulV2(%x, %w, %b) : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %z = ge.Relu(%y) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %s = ge.Add(%z, %y) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  func.return %s : tensor<1x2xf32>
}

// A comparison gives no float; bf16 is changed as well; a Cast of the model stays.
// CHECK-LABEL: func.func @compare
// CHECK-NEXT:    %[[H:.*]] = ge.Cast(%h) : (tensor<2xbf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[X:.*]] = ge.Cast(%x) : (tensor<2xf32>) -> tensor<2xf16>
// CHECK-NEXT:    %c = ge.Less(%[[X]], %[[X]]) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xi1>
// CHECK-NEXT:    %n = ge.Neg(%[[H]]) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[N:.*]] = ge.Cast(%n) : (tensor<2xf16>) -> tensor<2xbf16>
// CHECK-NEXT:    %i = ge.Cast(%[[N]]) : (tensor<2xbf16>) -> tensor<2xi32>
// CHECK-NEXT:    func.return %c, %i
func.func @compare(%x: tensor<2xf32>, %h: tensor<2xbf16>) -> (tensor<2xi1>, tensor<2xi32>) {
  %c = ge.Less(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %n = ge.Neg(%h) : (tensor<2xbf16>) -> tensor<2xbf16>
  %i = ge.Cast(%n) : (tensor<2xbf16>) -> tensor<2xi32>
  func.return %c, %i : tensor<2xi1>, tensor<2xi32>
}

// What a place is computed from keeps every digit; what is gathered is changed.
// CHECK-LABEL: func.func @indices
// CHECK:         %m = ge.Mul(%p, %p) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %f = ge.Floor(%m) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %i = ge.Cast(%f) : (tensor<3xf32>) -> tensor<3xi64>
// CHECK-NEXT:    ge.Gather({{.*}}, %i) : (tensor<5000xf16>, tensor<3xi64>) -> tensor<3xf16>
func.func @indices(%x: tensor<5000xf32>, %p: tensor<3xf32>) -> tensor<3xf32> {
  %m = ge.Mul(%p, %p) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %f = ge.Floor(%m) : (tensor<3xf32>) -> tensor<3xf32>
  %i = ge.Cast(%f) : (tensor<3xf32>) -> tensor<3xi64>
  %y = ge.Gather(%x, %i) axis 0 : (tensor<5000xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// Near misses: f64, scales of quantisation, coordinates.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %d1 = ge.Exp(%d) : (tensor<2xf64>) -> tensor<2xf64>
// CHECK-NEXT:    %d2 = ge.Cast(%d1) : (tensor<2xf64>) -> tensor<2xf32>
// CHECK-NEXT:    %s = ge.Const
// CHECK-NEXT:    %q = ge.Quantize
// CHECK-NEXT:    %r = ge.Dequantize{{.*}} -> tensor<2xf32>
// CHECK-NEXT:    %g = ge.GridSample{{.*}} -> tensor<1x1x2x2xf32>
func.func @kept(%d: tensor<2xf64>, %x: tensor<1x1x4x4xf32>, %p: tensor<1x2x2x2xf32>) -> (tensor<2xf32>, tensor<1x1x2x2xf32>) {
  %d1 = ge.Exp(%d) : (tensor<2xf64>) -> tensor<2xf64>
  %d2 = ge.Cast(%d1) : (tensor<2xf64>) -> tensor<2xf32>
  %s = ge.Const dense<1.0e-6> : tensor<f32>
  %q = ge.Quantize(%d2, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi8>
  %r = ge.Dequantize(%q, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %g = ge.GridSample(%x, %p) : (tensor<1x1x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  func.return %r, %g : tensor<2xf32>, tensor<1x1x2x2xf32>
}

// Quantised by hand: what leads to bytes, and what scales sums of integers, keeps f32; the next operation is changed.
// CHECK-LABEL: func.func @quantised
// CHECK:         %d = ge.RealDiv(%x, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %r = ge.Round(%d) : (tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %q = ge.Cast(%r) : (tensor<1x2xf32>) -> tensor<1x2xi8>
// CHECK:         %f = ge.Cast(%p) : (tensor<1x2xi32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %a = ge.Add(%f, %b) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %m = ge.Mul(%a, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[M:.*]] = ge.Cast(%m) : (tensor<1x2xf32>) -> tensor<1x2xf16>
// CHECK-NEXT:    %y = ge.Relu(%[[M]]) : (tensor<1x2xf16>) -> tensor<1x2xf16>
func.func @quantised(%x: tensor<1x2xf32>, %w: tensor<2x2xi8>, %s: tensor<f32>, %b: tensor<2xf32>) -> tensor<1x2xf32> {
  %d = ge.RealDiv(%x, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %r = ge.Round(%d) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %q = ge.Cast(%r) : (tensor<1x2xf32>) -> tensor<1x2xi8>
  %p = ge.MatMulV2(%q, %w) : (tensor<1x2xi8>, tensor<2x2xi8>) -> tensor<1x2xi32>
  %f = ge.Cast(%p) : (tensor<1x2xi32>) -> tensor<1x2xf32>
  %a = ge.Add(%f, %b) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %m = ge.Mul(%a, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %y = ge.Relu(%m) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
