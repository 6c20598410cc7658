// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Windows over three dimensions, and pools with indices.

func.func @main(%x: tensor<2x4x5x6x7xf32>, %d: tensor<2x4x?x6x7xf32>, %w: tensor<6x2x3x3x3xf32>, %o: tensor<6xf32>, %t: tensor<4x3x2x2x2xf32>, %i: tensor<2x4x9x8xf16>) {
  // CHECK: %0 = ge.Conv3D(%d, %w, %o) strides [2, 1, 1] pads [1, 0, 0, 1, 0, 0] group 2 : (tensor<2x4x?x6x7xf32>, tensor<6x2x3x3x3xf32>, tensor<6xf32>) -> tensor<2x6x?x4x5xf32>{{$}}
  %0 = ge.Conv3D(%d, %w, %o) strides [2, 1, 1] pads [1, 0, 0, 1, 0, 0] group 2 : (tensor<2x4x?x6x7xf32>, tensor<6x2x3x3x3xf32>, tensor<6xf32>) -> tensor<2x6x?x4x5xf32>
  // CHECK-NEXT: %1 = ge.ConvTranspose3D(%x, %t) strides [1, 2, 3] dilations [2, 1, 1] output_padding [0, 1, 0] : (tensor<2x4x5x6x7xf32>, tensor<4x3x2x2x2xf32>) -> tensor<2x3x7x13x20xf32>{{$}}
  %1 = ge.ConvTranspose3D(%x, %t) strides [1, 2, 3] dilations [2, 1, 1] output_padding [0, 1, 0] : (tensor<2x4x5x6x7xf32>, tensor<4x3x2x2x2xf32>) -> tensor<2x3x7x13x20xf32>
  // CHECK-NEXT: %2 = ge.MaxPool(%x) kernel [2, 2, 2] strides [2, 2, 2] pads [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] ceil_mode true : (tensor<2x4x5x6x7xf32>) -> tensor<2x4x3x3x4xf32>{{$}}
  %2 = ge.MaxPool(%x) kernel [2, 2, 2] strides [2, 2, 2] pads [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] ceil_mode true : (tensor<2x4x5x6x7xf32>) -> tensor<2x4x3x3x4xf32>
  // CHECK-NEXT: %3 = ge.AvgPool(%x) kernel [2, 3, 2] strides [1, 1, 1] pads [1, 0, 1, 0, 0, 0] dilations [1, 1, 1] count_include_pad true divisor 1 : (tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x4x7xf32>{{$}}
  %3 = ge.AvgPool(%x) kernel [2, 3, 2] strides [1, 1, 1] pads [1, 0, 1, 0, 0, 0] dilations [1, 1, 1] count_include_pad true divisor 1 : (tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x4x7xf32>
  // CHECK-NEXT: %4, %5 = ge.MaxPoolWithArgmax(%i) kernel [3, 2] column_major true : (tensor<2x4x9x8xf16>) -> (tensor<2x4x7x7xf16>, tensor<2x4x7x7xi64>){{$}}
  %4, %5 = ge.MaxPoolWithArgmax(%i) kernel [3, 2] column_major true : (tensor<2x4x9x8xf16>) -> (tensor<2x4x7x7xf16>, tensor<2x4x7x7xi64>)
  func.return
}
