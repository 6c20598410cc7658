// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Sampling on other grids.

func.func @main(%x: tensor<1x2x4x4xf32>, %i: tensor<1x2x4x4xui8>, %s: tensor<4xi64>) {
  // CHECK: %0 = ge.Resize(%x) scales [1.0, 1.0, 2.0, 2.0] mode cubic coordinate_mode align_corners cubic_coeff_a -0.5 exclude_outside true : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>{{$}}
  %0 = ge.Resize(%x) scales [1.0, 1.0, 2.0, 2.0] mode cubic coordinate_mode align_corners cubic_coeff_a -0.5 exclude_outside true : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %1 = ge.Resize(%i) scales [1.0, 1.0, 0.5, 0.5] mode linear antialias true : (tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8>{{$}}
  %1 = ge.Resize(%i) scales [1.0, 1.0, 0.5, 0.5] mode linear antialias true : (tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8>
  // CHECK-NEXT: %2 = ge.DynResize(%x, none, %s) coordinate_mode tf_crop_and_resize roi [0.0, 0.0, 0.25, 0.0, 1.0, 1.0, 0.75, 1.0] extrapolation_value 2.0 : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>{{$}}
  %2 = ge.DynResize(%x, none, %s) coordinate_mode tf_crop_and_resize roi [0.0, 0.0, 0.25, 0.0, 1.0, 1.0, 0.75, 1.0] extrapolation_value 2.0 : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  func.return
}
