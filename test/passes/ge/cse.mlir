// RUN: gecc-opt %s -p ge-cse --print-debuginfo | filecheck %s

// CHECK-LABEL: func.func @merges
func.func @merges(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // Equal, and equal but for the order of the operands.
  // CHECK:      %[[S:.*]] = ge.Add(%x, %y) : {{.*}} loc(fused["a", "b", "c"])
  // CHECK-NEXT: %[[P:.*]] = ge.Mul(%[[S]], %[[S]]) : {{.*}} loc("d")
  // CHECK-NEXT: %[[R:.*]] = ge.Mul(%[[P]], %[[S]]) : {{.*}} loc("e")
  // CHECK-NEXT: func.return %[[R]]
  %0 = ge.Add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a")
  %1 = ge.Add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("b")
  %2 = ge.Add(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("c")
  %3 = ge.Mul(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("d")
  %4 = ge.Mul(%3, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("e")
  func.return %4 : tensor<4xf32>
}

// What merging makes equal is merged in the same walk; an unknown location adds nothing.
// CHECK-LABEL: func.func @chains
func.func @chains(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      %[[E:.*]] = ge.Exp(%x) : {{.*}} loc("a")
  // CHECK-NEXT: %[[T:.*]] = ge.Tanh(%[[E]]) : {{.*}} loc(fused["b", "d"])
  // CHECK-NEXT: ge.Sub(%[[T]], %[[T]])
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  %1 = ge.Tanh(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
  %2 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = ge.Tanh(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("d")
  %4 = ge.Sub(%1, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// Near misses: other operand order where it matters, other property, other operator.
// CHECK-LABEL: func.func @near_misses
func.func @near_misses(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: ge.Sub(%x, %y)
  // CHECK-NEXT: ge.Sub(%y, %x)
  // CHECK-NEXT: ge.LeakyRelu(%x)
  // CHECK-NEXT: ge.LeakyRelu(%x) alpha 0.5
  // CHECK-NEXT: ge.Relu(%x)
  %0 = ge.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Sub(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.LeakyRelu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = ge.LeakyRelu(%x) alpha 0.5 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// One squared is not one times the other.
// CHECK-LABEL: func.func @squares
func.func @squares(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: ge.Mul(%x, %x)
  // CHECK-NEXT: ge.Mul(%x, %y)
  %0 = ge.Mul(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Mul(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Functions are isolated: equal operations in two of them are two.
// CHECK-LABEL: func.func @other
// CHECK-NEXT:    ge.Exp(%x)
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// A branch sees what stands before it; its own values stay inside.
// CHECK-LABEL: func.func @nested
func.func @nested(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = ge.Exp(%x)
  // CHECK-NEXT: scf.if %p -> (tensor<4xf32>) {
  // CHECK-NEXT:   %[[T:.*]] = ge.Tanh(%x)
  // CHECK-NEXT:   %[[S:.*]] = ge.Add(%[[E]], %[[T]])
  // CHECK-NEXT:   scf.yield %[[S]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   ge.Tanh(%x)
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %p -> (tensor<4xf32>) {
    %2 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = ge.Tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = ge.Add(%2, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } else {
    %5 = ge.Tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %5 : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}
