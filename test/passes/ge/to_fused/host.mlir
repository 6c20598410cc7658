// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// What runs on the host stays whole, with why it does, between what becomes kernels.
// CHECK-LABEL: func.func @main
// CHECK:         [[A:%.+]] = fused.generic "Relu"
// CHECK:         [[N:%.+]] = fused.host "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>>([[A]]) {reason = "data"} : (tensor<2x3xf32>) -> !ge.object<"tensor(int64)">
// CHECK:         [[S:%.+]] = fused.host "Shape" domain "" opset 13 {{.*}}([[N]])
// CHECK:         fused.generic "Mul"([[S]])
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %a = ge.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = ge.HostOp "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%a) {reason = "data"} : (tensor<2x3xf32>) -> !ge.object<"tensor(int64)">
  %s = ge.HostOp "Shape" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%n) : (!ge.object<"tensor(int64)">) -> tensor<2xi64>
  %y = ge.Mul(%s, %s) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}
