// RUN: gecc-opt %s -p fused-to-tile | filecheck %s

// A call of the host stays a call, with its program, its reason, and results of either kind.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %n = tile.host "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins(%x : tensor<2x3xf32>) {reason = "data"} -> !ge.object<"tensor(int64)">
// CHECK-NEXT:    %s = tile.host "Shape" domain "" opset 13 {{.*}} ins(%n : !ge.object<"tensor(int64)">) -> tensor<2xi64>
// CHECK-NEXT:    func.return %s
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %n = fused.host "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) {reason = "data"} : (tensor<2x3xf32>) -> !ge.object<"tensor(int64)">
  %s = fused.host "Shape" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%n) : (!ge.object<"tensor(int64)">) -> tensor<2xi64>
  func.return %s : tensor<2xi64>
}
