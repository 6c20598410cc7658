// RUN: gecc-opt %s | gecc-opt | filecheck %s

// A dense list cannot spell infinities, NaN, or a float whose shortest decimal has no point: Const prints bytes then.

func.func @main() {
  // CHECK:      ge.Const dense<"0x000080FF0000C07F"> : tensor<2xf32>{{$}}
  %0 = ge.Const dense<"0x000080FF0000C07F"> : tensor<2xf32>
  // CHECK-NEXT: ge.Const dense<"0x0100804B"> : tensor<f32>{{$}}
  %1 = ge.Const dense<16777218.0> : tensor<f32>
  // CHECK-NEXT: ge.Const dense<[5.000000e-01, -1.500000e+00]> : tensor<2xf16>{{$}}
  %2 = ge.Const dense<[0.5, -1.5]> : tensor<2xf16>
  // CHECK-NEXT: ge.Const dense<255> : tensor<3xui8>{{$}}
  %3 = ge.Const dense<255> : tensor<3xui8>
  // CHECK-NEXT: ge.Const dense<> : tensor<0x3xf64>{{$}}
  %4 = ge.Const dense<> : tensor<0x3xf64>
  func.return
}
