// RUN: gecc-opt %s -p ge-fold-constants | filecheck %s
// RUN: gecc-opt %s -p 'ge-fold-constants{limit=8 growth=1}' | filecheck %s --check-prefix=TIGHT

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[C:.*]] = ge.Const dense<[3.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    ge.Add(%x, %[[C]])
// CHECK-NEXT:    func.return
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = ge.Const dense<[1.0, 2.0]> : tensor<2xf32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %b = ge.Add(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = ge.Add(%b, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = ge.Add(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Integers divide toward zero; comparisons give booleans.
// CHECK-LABEL: func.func @integers
// CHECK-NEXT:    %q = ge.Const dense<[-3, 3]> : tensor<2xi64>
// CHECK-NEXT:    %l = ge.Const dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT:    func.return %q, %l
func.func @integers() -> (tensor<2xi64>, tensor<2xi1>) {
  %a = ge.Const dense<[-7, 7]> : tensor<2xi64>
  %two = ge.Const dense<2> : tensor<i64>
  %q = ge.RealDiv(%a, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %l = ge.Less(%a, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  func.return %q, %l : tensor<2xi64>, tensor<2xi1>
}

// Four bytes may not become a megabyte, but four elements may.
// CHECK-LABEL: func.func @growth
// CHECK:         ge.Expand({{%.*}}) : (tensor<f32>) -> tensor<512x512xf32>
// CHECK-NOT:     ge.Expand
// TIGHT-LABEL: func.func @growth
// TIGHT:         ge.Expand
// TIGHT:         ge.Expand
func.func @growth() -> (tensor<512x512xf32>, tensor<4xf32>) {
  %a = ge.Const dense<1.0> : tensor<f32>
  %big = ge.Expand(%a) : (tensor<f32>) -> tensor<512x512xf32>
  %small = ge.Expand(%a) : (tensor<f32>) -> tensor<4xf32>
  func.return %big, %small : tensor<512x512xf32>, tensor<4xf32>
}
