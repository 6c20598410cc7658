// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:  !ge.object<"seq(tensor(string))">
// CHECK:       ge.HostOp "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>>(%x, %s) {reason = "its shape depends on data"}
// CHECK-SAME:  (tensor<2x3xf32>, !ge.object<"seq(tensor(string))">) -> (!ge.object<"tensor(int64)">, tensor<2xi64>)
func.func @main(%x: tensor<2x3xf32>, %s: !ge.object<"seq(tensor(string))">) -> (!ge.object<"tensor(int64)">, tensor<2xi64>) {
  %0, %1 = ge.HostOp "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x, %s) {reason = "its shape depends on data"} : (tensor<2x3xf32>, !ge.object<"seq(tensor(string))">) -> (!ge.object<"tensor(int64)">, tensor<2xi64>)
  func.return %0, %1 : !ge.object<"tensor(int64)">, tensor<2xi64>
}

// CHECK-LABEL: func.func @types
// CHECK-SAME:  !ge.object<"optional(seq(tensor(float16)))">
// CHECK-SAME:  !ge.object<"seq(map(int64,tensor(float)))">
// CHECK-SAME:  !ge.object<"sparse_tensor(double)">
func.func @types(%a: !ge.object<"optional(seq(tensor(float16)))">, %b: !ge.object<"seq(map(int64,tensor(float)))">, %c: !ge.object<"sparse_tensor(double)">) {
  func.return
}
