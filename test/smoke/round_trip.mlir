// RUN: gecc-opt %s | filecheck %s
// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK:      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   func.return %x : tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
