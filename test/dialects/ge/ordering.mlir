// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK: ge.CumSum(%x) axis 1 exclusive true reverse true : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: ge.TopK(%x) k 2 largest false : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
// CHECK: ge.ScatterElements(%x, %i, %u) axis 1 reduction max : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x3xf32>
func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>, %u: tensor<2x1xf32>) {
  %0 = ge.CumSum(%x) axis 1 exclusive true reverse true : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1, %2 = ge.TopK(%x) k 2 largest false : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  %3 = ge.ScatterElements(%x, %i, %u) axis 1 reduction max : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return
}
