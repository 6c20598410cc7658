// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Sampling at computed places, and blocks put together.

func.func @main(%x: tensor<2x4x5x7xf32>, %g: tensor<2x?x6x2xf16>, %r: tensor<?x4xf32>, %b: tensor<?xi64>, %o: tensor<2x24x4x6xf32>, %m: tensor<2x12x4x6xf32>, %c: tensor<?x12x25xi32>) {
  // CHECK: %0 = ge.GridSample(%x, %g) mode cubic padding_mode border align_corners true : (tensor<2x4x5x7xf32>, tensor<2x?x6x2xf16>) -> tensor<2x4x?x6xf32>{{$}}
  %0 = ge.GridSample(%x, %g) mode cubic padding_mode border align_corners true : (tensor<2x4x5x7xf32>, tensor<2x?x6x2xf16>) -> tensor<2x4x?x6xf32>
  // CHECK-NEXT: %1 = ge.RoiAlign(%x, %r, %b) mode max height 3 width 2 sampling_ratio 2 spatial_scale 0.5 half_pixel true : (tensor<2x4x5x7xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4x3x2xf32>{{$}}
  %1 = ge.RoiAlign(%x, %r, %b) mode max height 3 width 2 sampling_ratio 2 spatial_scale 0.5 half_pixel true : (tensor<2x4x5x7xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4x3x2xf32>
  // CHECK-NEXT: %2 = ge.DeformableOffsets(%x, %o, %m) kernel [3, 2] pads [1, 0, 0, 0] groups 2 : (tensor<2x4x5x7xf32>, tensor<2x24x4x6xf32>, tensor<2x12x4x6xf32>) -> tensor<2x4x12x12xf32>{{$}}
  %2 = ge.DeformableOffsets(%x, %o, %m) kernel [3, 2] pads [1, 0, 0, 0] groups 2 : (tensor<2x4x5x7xf32>, tensor<2x24x4x6xf32>, tensor<2x12x4x6xf32>) -> tensor<2x4x12x12xf32>
  // CHECK-NEXT: %3 = ge.Col2Im(%c) image [6, 7] block [2, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<?x12x25xi32>) -> tensor<?x2x6x7xi32>{{$}}
  %3 = ge.Col2Im(%c) image [6, 7] block [2, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<?x12x25xi32>) -> tensor<?x2x6x7xi32>
  func.return
}
