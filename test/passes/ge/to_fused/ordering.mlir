// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Five elements: steps of 1, 2 and 4.
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-3: fused.generic "CumSum"
// CHECK-NOT:     fused.generic
// CHECK:         func.return
func.func @sums(%x: tensor<5xi32>) -> tensor<5xi32> {
  %0 = ge.CumSum(%x) axis 0 : (tensor<5xi32>) -> tensor<5xi32>
  func.return %0 : tensor<5xi32>
}

// Half formats stay in f32 between steps; an exclusive sum is shifted first.
// CHECK-LABEL: func.func @exclusive(
// CHECK:         fused.generic "CumSum"(%x) : (tensor<2xf16>) -> tensor<2xf32>
// CHECK:         fused.generic "CumSum"({{.*}}) : (tensor<2xf32>) -> tensor<2xf16>
func.func @exclusive(%x: tensor<2xf16>) -> tensor<2xf16> {
  %0 = ge.CumSum(%x) axis 0 exclusive true : (tensor<2xf16>) -> tensor<2xf16>
  func.return %0 : tensor<2xf16>
}

// CHECK-LABEL: func.func @largest(
// CHECK:         %[[RANK:.*]] = fused.generic "TopK"(%x) {combiner = "add", reduction = array<i64: 9>} : (tensor<9xf32>) -> tensor<9xi64>
// CHECK:         %[[INDEX:.*]] = fused.generic "TopK"(%[[RANK]]) {combiner = "add", reduction = array<i64: 9>} : (tensor<9xi64>) -> tensor<2xi64>
// CHECK:         fused.generic "TopK"(%x, %[[INDEX]]) : (tensor<9xf32>, tensor<2xi64>) -> tensor<2xf32>
func.func @largest(%x: tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %0, %1 = ge.TopK(%x) k 2 : (tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return %0, %1 : tensor<2xf32>, tensor<2xi64>
}

// A length out of range fails the run.
// CHECK-LABEL: func.func @reverse(
// CHECK:         fused.generic "ReverseSequence"(%x, %n)
// CHECK:         fused.check_index
// CHECK:         arith.select
// CHECK:         fused.load %t0
func.func @reverse(%x: tensor<4x2xf32>, %n: tensor<2xi64>) -> tensor<4x2xf32> {
  %0 = ge.ReverseSequence(%x, %n) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}
