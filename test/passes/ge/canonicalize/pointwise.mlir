// RUN: gecc-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @identity
// CHECK-NEXT:    func.return %x, %x
func.func @identity(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ge.Identity(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Cast(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// An Identity that says more of the shape stays: its user may rely on it.
// CHECK-LABEL: func.func @identity_refines
// CHECK-NEXT:    ge.Identity(%x)
func.func @identity_refines(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = ge.Identity(%x) : (tensor<?xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts
func.func @casts(%h: tensor<4xf16>, %b: tensor<4xi1>, %i: tensor<4xi8>) -> (tensor<4xf16>, tensor<4xf64>, tensor<4xi8>, tensor<4xi64>, tensor<4xf32>) {
  // Widened and back: nothing.
  // CHECK-NEXT: %[[A:.*]] = ge.Cast(%h) : (tensor<4xf16>) -> tensor<4xf64>
  // CHECK-NEXT: %[[B:.*]] = ge.Cast(%b) : (tensor<4xi1>) -> tensor<4xi64>
  // CHECK-NEXT: %[[C:.*]] = ge.Cast(%i) : (tensor<4xi8>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %h, %[[A]], %i, %[[B]], %[[C]]
  %0 = ge.Cast(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %1 = ge.Cast(%0) : (tensor<4xf32>) -> tensor<4xf16>
  %2 = ge.Cast(%0) : (tensor<4xf32>) -> tensor<4xf64>
  %3 = ge.Cast(%i) : (tensor<4xi8>) -> tensor<4xf16>
  %4 = ge.Cast(%3) : (tensor<4xf16>) -> tensor<4xi8>
  %5 = ge.Cast(%b) : (tensor<4xi1>) -> tensor<4xui8>
  %6 = ge.Cast(%5) : (tensor<4xui8>) -> tensor<4xi64>
  %7 = ge.Cast(%i) : (tensor<4xi8>) -> tensor<4xi32>
  %8 = ge.Cast(%7) : (tensor<4xi32>) -> tensor<4xf32>
  func.return %1, %2, %4, %6, %8 : tensor<4xf16>, tensor<4xf64>, tensor<4xi8>, tensor<4xi64>, tensor<4xf32>
}

// The type between loses digits, range, sign or all but one bit; or the way round is not the direct conversion.
// CHECK-LABEL: func.func @casts_that_round
// CHECK-COUNT-14: ge.Cast
// CHECK-NEXT:    func.return
func.func @casts_that_round(%x: tensor<4xf32>, %h: tensor<4xf16>, %i: tensor<4xi32>, %c: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xui8>) {
  %0 = ge.Cast(%x) : (tensor<4xf32>) -> tensor<4xf16>
  %1 = ge.Cast(%0) : (tensor<4xf16>) -> tensor<4xf32>
  %2 = ge.Cast(%h) : (tensor<4xf16>) -> tensor<4xbf16>
  %3 = ge.Cast(%2) : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = ge.Cast(%i) : (tensor<4xi32>) -> tensor<4xi16>
  %5 = ge.Cast(%4) : (tensor<4xi16>) -> tensor<4xi32>
  %6 = ge.Cast(%i) : (tensor<4xi32>) -> tensor<4xui32>
  %7 = ge.Cast(%6) : (tensor<4xui32>) -> tensor<4xi32>
  %8 = ge.Cast(%i) : (tensor<4xi32>) -> tensor<4xi1>
  %9 = ge.Cast(%8) : (tensor<4xi1>) -> tensor<4xi32>
  %10 = ge.Cast(%i) : (tensor<4xi32>) -> tensor<4xf32>
  %11 = ge.Cast(%10) : (tensor<4xf32>) -> tensor<4xi32>
  %12 = ge.Cast(%c) : (tensor<4xi8>) -> tensor<4xf32>
  %13 = ge.Cast(%12) : (tensor<4xf32>) -> tensor<4xui8>
  func.return %1, %3, %5, %7, %9, %11, %13 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xui8>
}

// CHECK-LABEL: func.func @involutions
// CHECK-NEXT:    %[[N:.*]] = ge.Neg(%x)
// CHECK-NEXT:    func.return %x, %[[N]], %c
func.func @involutions(%x: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %0 = ge.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Neg(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = ge.LogicalNot(%c) : (tensor<4xi1>) -> tensor<4xi1>
  %4 = ge.LogicalNot(%3) : (tensor<4xi1>) -> tensor<4xi1>
  func.return %1, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// 1 / (1 / x) rounds twice.
// CHECK-LABEL: func.func @no_involution
// CHECK-NEXT:    ge.Reciprocal
// CHECK-NEXT:    ge.Reciprocal
func.func @no_involution(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Reciprocal(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Reciprocal(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @idempotents
// CHECK-NEXT:    %[[R:.*]] = ge.Relu(%x)
// CHECK-NEXT:    %[[F:.*]] = ge.Floor(%x)
// CHECK-NEXT:    %[[C:.*]] = ge.Ceil(%[[F]])
// CHECK-NEXT:    func.return %[[R]], %[[C]]
func.func @idempotents(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Relu(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = ge.Floor(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = ge.Ceil(%3) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %4 : tensor<4xf32>, tensor<4xf32>
}

// Twice the exponential is another function.
// CHECK-LABEL: func.func @not_idempotent
// CHECK-COUNT-2: ge.Exp
// CHECK-NEXT:    func.return
func.func @not_idempotent(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @same_operands
// CHECK-NEXT:    func.return %x, %x, %c, %x
func.func @same_operands(%x: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  %0 = ge.Maximum(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Minimum(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.LogicalAnd(%c, %c) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %3 = ge.LogicalOr(%2, %c) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %4 = ge.Select(%c, %x, %x) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}

// The condition broadcasts; exclusive or of equals is false, not them.
// CHECK-LABEL: func.func @same_operands_near_misses
// CHECK-NEXT:    ge.Select
// CHECK-NEXT:    ge.LogicalXor
func.func @same_operands_near_misses(%x: tensor<4xf32>, %c: tensor<2x4xi1>) -> (tensor<2x4xf32>, tensor<2x4xi1>) {
  %0 = ge.Select(%c, %x, %x) : (tensor<2x4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = ge.LogicalXor(%c, %c) : (tensor<2x4xi1>, tensor<2x4xi1>) -> tensor<2x4xi1>
  func.return %0, %1 : tensor<2x4xf32>, tensor<2x4xi1>
}

// CHECK-LABEL: func.func @negated_select
// CHECK-NEXT:    ge.Select(%c, %y, %x) : (tensor<4xi1>, tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return
func.func @negated_select(%c: tensor<4xi1>, %x: tensor<1xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.LogicalNot(%c) : (tensor<4xi1>) -> tensor<4xi1>
  %1 = ge.Select(%0, %x, %y) : (tensor<4xi1>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
