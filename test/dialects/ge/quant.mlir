// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Quantisation: one scale, one for each channel, one for each block; the zero point may be absent.

func.func @main(%x: tensor<2x?x8xf32>, %s: tensor<f32>, %z: tensor<ui8>, %c: tensor<8xf32>, %d: tensor<8xi16>, %b: tensor<2x?x3xf32>, %q: tensor<2x3xi32>, %h: tensor<f16>, %m: tensor<2x4xi16>, %n: tensor<4x3xi16>, %o: tensor<3xi32>, %i: tensor<1x2x5x5xi8>, %w: tensor<4x2x3x3xi8>) {
  // CHECK: %0 = ge.Quantize(%x, %s, %z) : (tensor<2x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x?x8xui8>{{$}}
  %0 = ge.Quantize(%x, %s, %z) : (tensor<2x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x?x8xui8>
  // CHECK-NEXT: %1 = ge.Quantize(%x, %c, %d) axis -1 : (tensor<2x?x8xf32>, tensor<8xf32>, tensor<8xi16>) -> tensor<2x?x8xi16>{{$}}
  %1 = ge.Quantize(%x, %c, %d) axis -1 : (tensor<2x?x8xf32>, tensor<8xf32>, tensor<8xi16>) -> tensor<2x?x8xi16>
  // CHECK-NEXT: %2 = ge.Quantize(%x, %b) axis 2 block_size 3 : (tensor<2x?x8xf32>, tensor<2x?x3xf32>) -> tensor<2x?x8xi8>{{$}}
  %2 = ge.Quantize(%x, %b) axis 2 block_size 3 : (tensor<2x?x8xf32>, tensor<2x?x3xf32>) -> tensor<2x?x8xi8>
  // CHECK-NEXT: %3 = ge.Dequantize(%0, %s, %z) : (tensor<2x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x8xf32>{{$}}
  %3 = ge.Dequantize(%0, %s, %z) : (tensor<2x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %4 = ge.Dequantize(%q, %h) : (tensor<2x3xi32>, tensor<f16>) -> tensor<2x3xbf16>{{$}}
  %4 = ge.Dequantize(%q, %h) : (tensor<2x3xi32>, tensor<f16>) -> tensor<2x3xbf16>
  // Products of narrow integers may be summed in i32; so is the bias.
  // CHECK-NEXT: %5 = ge.MatMulV2(%m, %n, %o) : (tensor<2x4xi16>, tensor<4x3xi16>, tensor<3xi32>) -> tensor<2x3xi32>{{$}}
  %5 = ge.MatMulV2(%m, %n, %o) : (tensor<2x4xi16>, tensor<4x3xi16>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK-NEXT: %6 = ge.MatMulV2(%m, %n) : (tensor<2x4xi16>, tensor<4x3xi16>) -> tensor<2x3xi16>{{$}}
  %6 = ge.MatMulV2(%m, %n) : (tensor<2x4xi16>, tensor<4x3xi16>) -> tensor<2x3xi16>
  // CHECK-NEXT: %7 = ge.Conv2D(%i, %w) : (tensor<1x2x5x5xi8>, tensor<4x2x3x3xi8>) -> tensor<1x4x3x3xi32>{{$}}
  %7 = ge.Conv2D(%i, %w) : (tensor<1x2x5x5xi8>, tensor<4x2x3x3xi8>) -> tensor<1x4x3x3xi32>
  func.return
}
