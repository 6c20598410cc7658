// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Constants, shape arithmetic, and forms with shapes as operands.

func.func @main(%x: tensor<2x?x4xf32>, %p: tensor<2xi64>) {
  // CHECK: %0 = ge.Const dense<[1, -1]> : tensor<2xi64>{{$}}
  %0 = ge.Const dense<[1, -1]> : tensor<2xi64>
  // CHECK-NEXT: %1 = ge.Const dense<1.000000e-01> : tensor<f32>{{$}}
  %1 = ge.Const dense<1.000000e-01> : tensor<f32>
  // CHECK-NEXT: %2 = ge.Const dense<7> : tensor<2x2xui8>{{$}}
  %2 = ge.Const dense<7> : tensor<2x2xui8>
  // CHECK-NEXT: %3 = ge.Const #ge.weight<"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", tensor<0x8xf32>>{{$}}
  %3 = ge.Const #ge.weight<"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", tensor<0x8xf32>>
  // CHECK-NEXT: %4 = ge.Const #ge.weight<"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", tensor<1x0x8x8xf32, #ge.layout<NHWC>>>{{$}}
  %4 = ge.Const #ge.weight<"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", tensor<1x0x8x8xf32, #ge.layout<NHWC>>>
  // CHECK-NEXT: %5 = ge.Const dense<[true, false]> : tensor<2xi1>{{$}}
  %5 = ge.Const dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT: %6 = ge.Shape(%x) : (tensor<2x?x4xf32>) -> tensor<3xi64>{{$}}
  %6 = ge.Shape(%x) : (tensor<2x?x4xf32>) -> tensor<3xi64>
  // CHECK-NEXT: %7 = ge.Shape(%x) start -2 end 2 : (tensor<2x?x4xf32>) -> tensor<1xi64>{{$}}
  %7 = ge.Shape(%x) start -2 end 2 : (tensor<2x?x4xf32>) -> tensor<1xi64>
  // CHECK-NEXT: %8 = ge.Size(%x) : (tensor<2x?x4xf32>) -> tensor<i64>{{$}}
  %8 = ge.Size(%x) : (tensor<2x?x4xf32>) -> tensor<i64>
  // CHECK-NEXT: %9 = ge.Range(%8, %8, %8) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>{{$}}
  %9 = ge.Range(%8, %8, %8) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  // CHECK-NEXT: %10 = ge.ConstantOfShape(%6) : (tensor<3xi64>) -> tensor<?x?x?xf32>{{$}}
  %10 = ge.ConstantOfShape(%6) : (tensor<3xi64>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %11 = ge.ConstantOfShape(%6) value dense<7> : tensor<1xi64> : (tensor<3xi64>) -> tensor<?x?x?xi64>{{$}}
  %11 = ge.ConstantOfShape(%6) value dense<7> : tensor<1xi64> : (tensor<3xi64>) -> tensor<?x?x?xi64>
  // CHECK-NEXT: %12 = ge.DynReshape(%x, %0) : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<1x?xf32>{{$}}
  %12 = ge.DynReshape(%x, %0) : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<1x?xf32>
  // CHECK-NEXT: %13 = ge.DynReshape(%x, %6) allowzero true : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>{{$}}
  %13 = ge.DynReshape(%x, %6) allowzero true : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %14 = ge.DynExpand(%x, %6) : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>{{$}}
  %14 = ge.DynExpand(%x, %6) : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %15 = ge.DynSlice(%x, %7, %7) : (tensor<2x?x4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x4xf32>{{$}}
  %15 = ge.DynSlice(%x, %7, %7) : (tensor<2x?x4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x4xf32>
  // CHECK-NEXT: %16 = ge.DynSlice(%x, %7, %7, none, %7) : (tensor<2x?x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x4xf32>{{$}}
  %16 = ge.DynSlice(%x, %7, %7, none, %7) : (tensor<2x?x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x4xf32>
  // CHECK-NEXT: %17 = ge.DynPad(%x, %p, none, %7) mode reflect : (tensor<2x?x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?x?xf32>{{$}}
  %17 = ge.DynPad(%x, %p, none, %7) mode reflect : (tensor<2x?x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %18 = ge.DynTile(%x, %6) : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>{{$}}
  %18 = ge.DynTile(%x, %6) : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %19 = ge.DynResize(%x, none, %6) mode linear : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>{{$}}
  %19 = ge.DynResize(%x, none, %6) mode linear : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %20 = ge.DynSqueeze(%x) : (tensor<2x?x4xf32>) -> tensor<2x4xf32>{{$}}
  %20 = ge.DynSqueeze(%x) : (tensor<2x?x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %21 = ge.DynUnsqueeze(%x, %7) : (tensor<2x?x4xf32>, tensor<1xi64>) -> tensor<?x?x?x?xf32>{{$}}
  %21 = ge.DynUnsqueeze(%x, %7) : (tensor<2x?x4xf32>, tensor<1xi64>) -> tensor<?x?x?x?xf32>
  func.return
}
