// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// Each element looks for the last update meant for it, and takes it in the epilogue.
// CHECK-LABEL: func.func @place(
// CHECK:         fused.generic "ScatterElements"(%x, %i, %u)
// CHECK-SAME: {combiner = "max", reduction = array<i64: 2>}
// CHECK:         fused.check_index
// CHECK:         arith.select {{.*}} : i64
// CHECK:         epilogue(
// CHECK:         arith.cmpi sge, %acc
func.func @place(%x: tensor<5xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<5xf32> {
  %0 = ge.ScatterElements(%x, %i, %u) : (tensor<5xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}

// Updates that are not meant for an element count as the neutral one.
// CHECK-LABEL: func.func @sum(
// CHECK:         fused.generic "ScatterND"(%x, %i, %u)
// CHECK-SAME: {combiner = "add", reduction = array<i64: 3>}
// CHECK:         arith.constant 0.000000e+00 : f32
// CHECK:         epilogue(
// CHECK:         arith.addf
func.func @sum(%x: tensor<5x2xf32>, %i: tensor<3x1xi32>, %u: tensor<3x2xf32>) -> tensor<5x2xf32> {
  %0 = ge.ScatterND(%x, %i, %u) reduction add : (tensor<5x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %0 : tensor<5x2xf32>
}

// No updates: nothing is left.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    func.return %x : tensor<5xf32>
func.func @nothing(%x: tensor<5xf32>, %i: tensor<0xi64>, %u: tensor<0xf32>) -> tensor<5xf32> {
  %0 = ge.ScatterElements(%x, %i, %u) : (tensor<5xf32>, tensor<0xi64>, tensor<0xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
