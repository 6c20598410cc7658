// RUN: gecc-opt %s | gecc-opt | filecheck %s

// NaN and infinity keep their bytes.
// CHECK-LABEL: func.func @special
// CHECK-NEXT:    %n = fused.const dense<"0x0000C07F0000807F"> : tensor<2xf32>
func.func @special() {
  %n = fused.const dense<"0x0000C07F0000807F"> : tensor<2xf32>
  func.return
}
