// RUN: gecc-opt %s -p ge-to-fused --verify-diagnostics | filecheck %s

// Operators that take a shape must be gone before.
// CHECK: operators without a lowering to fused operations: ge.Shape (dims)
// CHECK: hint: shapes must be static and shape operands constant; run ge-infer-shapes first
func.func @main(%x: tensor<4x8xf32>) -> tensor<2xi64> {
  %0 = ge.Shape(%x) : (tensor<4x8xf32>) -> tensor<2xi64> loc("dims")
  func.return %0 : tensor<2xi64>
}
