// RUN: gecc-opt %s -p ge-recognise-silu --print-debuginfo | filecheck %s

// Both orders of the operands.
// CHECK-LABEL: func.func @silu
// CHECK-NEXT:    %a = ge.Silu(%x) : {{.*}} loc(fused["gate", "out"])
// CHECK-NEXT:    %b = ge.Silu(%a)
// CHECK-NEXT:    func.return %b
func.func @silu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = ge.Sigmoid(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32> loc("gate")
  %a = ge.Mul(%x, %s) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("out")
  %t = ge.Sigmoid(%a) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = ge.Mul(%t, %a) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %b : tensor<?x8xf32>
}

// Near misses: the gate of another value, and a gate with another use.
// CHECK-LABEL: func.func @not_silu
// CHECK-NEXT:    ge.Sigmoid(%x)
// CHECK-NEXT:    ge.Mul
// CHECK-NEXT:    ge.Sigmoid(%y)
// CHECK-NEXT:    ge.Mul
// CHECK-NEXT:    func.return
func.func @not_silu(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %s = ge.Sigmoid(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %a = ge.Mul(%y, %s) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %t = ge.Sigmoid(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.Mul(%t, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %b, %t : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
