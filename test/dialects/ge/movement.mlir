// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Operators that move elements or pick them by index.

func.func @main(%x: tensor<2x3x4xf32>, %i: tensor<1x8x?x5xf32>, %s: tensor<f32>, %n: tensor<2x1x?xi64>, %d: tensor<2x7x1xi32>) {
  // CHECK: %0 = ge.Reshape(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>{{$}}
  %0 = ge.Reshape(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: %1 = ge.Transpose(%x) perm [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>{{$}}
  %1 = ge.Transpose(%x) perm [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK-NEXT: %2 = ge.TransData(%i) : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x5xf32, #ge.layout<NHWC>>{{$}}
  %2 = ge.TransData(%i) : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x5xf32, #ge.layout<NHWC>>
  // CHECK-NEXT: %3 = ge.TransData(%2) : (tensor<1x8x?x5xf32, #ge.layout<NHWC>>) -> tensor<1x8x?x5xf32>{{$}}
  %3 = ge.TransData(%2) : (tensor<1x8x?x5xf32, #ge.layout<NHWC>>) -> tensor<1x8x?x5xf32>
  // CHECK-NEXT: %4 = ge.Concat(%x, %x) axis 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>{{$}}
  %4 = ge.Concat(%x, %x) axis 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  // CHECK-NEXT: %5 = ge.Slice(%x) starts [-1] ends [-100] axes [2] steps [-2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>{{$}}
  %5 = ge.Slice(%x) starts [-1] ends [-100] axes [2] steps [-2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
  // CHECK-NEXT: %6 = ge.Pad(%x) pads [0, 1, 0, 0, 0, 2] mode edge : (tensor<2x3x4xf32>) -> tensor<2x4x6xf32>{{$}}
  %6 = ge.Pad(%x) pads [0, 1, 0, 0, 0, 2] mode edge : (tensor<2x3x4xf32>) -> tensor<2x4x6xf32>
  // CHECK-NEXT: %7 = ge.Pad(%x, %s) pads [0, -1, 0, 0, 0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x2x6xf32>{{$}}
  %7 = ge.Pad(%x, %s) pads [0, -1, 0, 0, 0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x2x6xf32>
  // CHECK-NEXT: %8 = ge.Expand(%s) : (tensor<f32>) -> tensor<2x3xf32>{{$}}
  %8 = ge.Expand(%s) : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %9 = ge.Tile(%x) repeats [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<2x6x12xf32>{{$}}
  %9 = ge.Tile(%x) repeats [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<2x6x12xf32>
  // CHECK-NEXT: %10, %11 = ge.Split(%x) axis -1 sizes [1, 3] : (tensor<2x3x4xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x3xf32>){{$}}
  %10, %11 = ge.Split(%x) axis -1 sizes [1, 3] : (tensor<2x3x4xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x3xf32>)
  // CHECK-NEXT: %12 = ge.Gather(%x, %n) axis 1 : (tensor<2x3x4xf32>, tensor<2x1x?xi64>) -> tensor<2x2x1x?x4xf32>{{$}}
  %12 = ge.Gather(%x, %n) axis 1 : (tensor<2x3x4xf32>, tensor<2x1x?xi64>) -> tensor<2x2x1x?x4xf32>
  // CHECK-NEXT: %13 = ge.GatherElements(%x, %n) axis 2 : (tensor<2x3x4xf32>, tensor<2x1x?xi64>) -> tensor<2x1x?xf32>{{$}}
  %13 = ge.GatherElements(%x, %n) axis 2 : (tensor<2x3x4xf32>, tensor<2x1x?xi64>) -> tensor<2x1x?xf32>
  // CHECK-NEXT: %14 = ge.GatherND(%x, %d) batch_dims 1 : (tensor<2x3x4xf32>, tensor<2x7x1xi32>) -> tensor<2x7x4xf32>{{$}}
  %14 = ge.GatherND(%x, %d) batch_dims 1 : (tensor<2x3x4xf32>, tensor<2x7x1xi32>) -> tensor<2x7x4xf32>
  // CHECK-NEXT: %15 = ge.Resize(%i) scales [1.0, 1.0, 2.0, 0.6] mode linear coordinate_mode align_corners : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x3xf32>{{$}}
  %15 = ge.Resize(%i) scales [1.0, 1.0, 2.0, 0.6] mode linear coordinate_mode align_corners : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x3xf32>
  // CHECK-NEXT: %16 = ge.Resize(%i) scales [1.0, 1.0, 2.0, 2.0] nearest_mode floor : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x10xf32>{{$}}
  %16 = ge.Resize(%i) scales [1.0, 1.0, 2.0, 2.0] nearest_mode floor : (tensor<1x8x?x5xf32>) -> tensor<1x8x?x10xf32>
  // CHECK-NEXT: %17 = ge.DepthToSpace(%i) block_size 2 mode CRD : (tensor<1x8x?x5xf32>) -> tensor<1x2x?x10xf32>{{$}}
  %17 = ge.DepthToSpace(%i) block_size 2 mode CRD : (tensor<1x8x?x5xf32>) -> tensor<1x2x?x10xf32>
  // CHECK-NEXT: %18 = ge.SpaceToDepth(%17) block_size 2 : (tensor<1x2x?x10xf32>) -> tensor<1x8x?x5xf32>{{$}}
  %18 = ge.SpaceToDepth(%17) block_size 2 : (tensor<1x2x?x10xf32>) -> tensor<1x8x?x5xf32>
  func.return
}
