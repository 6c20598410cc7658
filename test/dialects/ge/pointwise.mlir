// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Pointwise operators: attributes that differ from their default, broadcasting, unknown dimensions, layouts.

func.func @main(%x: tensor<2x?x4xf32>, %v: tensor<3x1xf32>, %s: tensor<f32>, %p: tensor<1x2x3x4xf32, #ge.layout<NHWC>>) {
  // CHECK: %0 = ge.Relu(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %0 = ge.Relu(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %1 = ge.Sigmoid(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %1 = ge.Sigmoid(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %2 = ge.Gelu(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %2 = ge.Gelu(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %3 = ge.Gelu(%x) approximate tanh : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %3 = ge.Gelu(%x) approximate tanh : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %4 = ge.HardSigmoid(%x) alpha 0.16666667 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %4 = ge.HardSigmoid(%x) alpha 0.16666667 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %5 = ge.LeakyRelu(%x) alpha 0.1 f64 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %5 = ge.LeakyRelu(%x) alpha 0.1 f64 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %6 = ge.Elu(%x) alpha 1.5e-09 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %6 = ge.Elu(%x) alpha 1.5e-09 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %{{.*}} = ge.Elu(%x) alpha inf : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %inf = ge.Elu(%x) alpha inf : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %{{.*}} = ge.Elu(%x) alpha -inf : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %minus = ge.Elu(%x) alpha -inf : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %{{.*}} = ge.Elu(%x) alpha nan f64 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %nan = ge.Elu(%x) alpha nan f64 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %{{.*}} = ge.Elu(%x) alpha -0.5 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %half = ge.Elu(%x) alpha -0.5 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %7 = ge.IsNan(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xi1>{{$}}
  %7 = ge.IsNan(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xi1>
  // CHECK-NEXT: %8 = ge.LogicalNot(%7) : (tensor<2x?x4xi1>) -> tensor<2x?x4xi1>{{$}}
  %8 = ge.LogicalNot(%7) : (tensor<2x?x4xi1>) -> tensor<2x?x4xi1>
  // CHECK-NEXT: %9 = ge.Add(%x, %v) : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>{{$}}
  %9 = ge.Add(%x, %v) : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %10 = ge.Mod(%x, %v) fmod true : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>{{$}}
  %10 = ge.Mod(%x, %v) fmod true : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %11 = ge.LessEqual(%x, %v) : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xi1>{{$}}
  %11 = ge.LessEqual(%x, %v) : (tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xi1>
  // CHECK-NEXT: %12 = ge.Select(%11, %x, %v) : (tensor<2x3x4xi1>, tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>{{$}}
  %12 = ge.Select(%11, %x, %v) : (tensor<2x3x4xi1>, tensor<2x?x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %13 = ge.ClipByValue(%x, %s, %s) : (tensor<2x?x4xf32>, tensor<f32>, tensor<f32>) -> tensor<2x?x4xf32>{{$}}
  %13 = ge.ClipByValue(%x, %s, %s) : (tensor<2x?x4xf32>, tensor<f32>, tensor<f32>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: %14 = ge.Cast(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xui8>{{$}}
  %14 = ge.Cast(%x) : (tensor<2x?x4xf32>) -> tensor<2x?x4xui8>
  // CHECK-NEXT: %15 = ge.Add(%p, %v) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>, tensor<3x1xf32>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>{{$}}
  %15 = ge.Add(%p, %v) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>, tensor<3x1xf32>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  // CHECK-NEXT: %16 = ge.Identity(%x) {note = "kept"} : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>{{$}}
  %16 = ge.Identity(%x) {note = "kept"} : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  func.return
}
