// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Matrix products and convolutions.

func.func @main(%a: tensor<2x?x8xf32>, %b: tensor<8x4xf32>, %o: tensor<4xf32>, %x: tensor<1x6x9x?xf32>, %w: tensor<4x3x3x3xf32>, %t: tensor<6x2x3x3xf32>, %n: tensor<1x6x9x9xf32, #ge.layout<NHWC>>) {
  // CHECK: %0 = ge.MatMulV2(%a, %b) : (tensor<2x?x8xf32>, tensor<8x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %0 = ge.MatMulV2(%a, %b) : (tensor<2x?x8xf32>, tensor<8x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %1 = ge.MatMulV2(%a, %b, %o) : (tensor<2x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<2x?x4xf32>{{$}}
  %1 = ge.MatMulV2(%a, %b, %o) : (tensor<2x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %2 = ge.MatMulV2(%b, %b) transpose_x1 true : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>{{$}}
  %2 = ge.MatMulV2(%b, %b) transpose_x1 true : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %3 = ge.MatMulV2(%b, %b) transpose_x2 true : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>{{$}}
  %3 = ge.MatMulV2(%b, %b) transpose_x2 true : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %4 = ge.Conv2D(%x, %w) group 2 : (tensor<1x6x9x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x?xf32>{{$}}
  %4 = ge.Conv2D(%x, %w) group 2 : (tensor<1x6x9x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x?xf32>
  // CHECK-NEXT: %5 = ge.Conv2D(%x, %w, %o) strides [2, 1] pads [1, 0, 1, 0] dilations [1, 2] group 2 : (tensor<1x6x9x?xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x5x?xf32>{{$}}
  %5 = ge.Conv2D(%x, %w, %o) strides [2, 1] pads [1, 0, 1, 0] dilations [1, 2] group 2 : (tensor<1x6x9x?xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x5x?xf32>
  // CHECK-NEXT: %6 = ge.ConvTranspose2D(%x, %t, %o) strides [2, 2] pads [1, 1, 1, 1] group 2 output_padding [1, 0] : (tensor<1x6x9x?xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x18x?xf32>{{$}}
  %6 = ge.ConvTranspose2D(%x, %t, %o) strides [2, 2] pads [1, 1, 1, 1] group 2 output_padding [1, 0] : (tensor<1x6x9x?xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x18x?xf32>
  // CHECK-NEXT: %7 = ge.Conv2D(%n, %w) group 2 : (tensor<1x6x9x9xf32, #ge.layout<NHWC>>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32, #ge.layout<NHWC>>{{$}}
  %7 = ge.Conv2D(%n, %w) group 2 : (tensor<1x6x9x9xf32, #ge.layout<NHWC>>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32, #ge.layout<NHWC>>
  func.return
}
