// RUN: gecc-opt %s -p ge-infer-shapes --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @reshape
// CHECK-SAME:    -> tensor<2x12xf32>
// CHECK-NEXT:    %y = ge.Reshape(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT:    func.return %y
func.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  %zero = ge.Const dense<0> : tensor<1xi64>
  %rest = ge.Const dense<-1> : tensor<1xi64>
  %s = ge.Shape(%x) : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %n = ge.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = ge.Concat(%n, %rest) axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = ge.DynReshape(%x, %t) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// A dynamic batch stays, all else is known; the comparison of a size with -1 is decided.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %y = ge.Reshape(%x) : (tensor<?x6x4xf32>) -> tensor<?x2x3x4xf32>
// CHECK-NEXT:    %c = ge.Const dense<false> : tensor<1xi1>
// CHECK-NEXT:    func.return %y, %c : tensor<?x2x3x4xf32>, tensor<1xi1>
func.func @dynamic(%x: tensor<?x6x4xf32>) -> (tensor<?x?x?x?xf32>, tensor<1xi1>) attributes {ge.input_dims = [["batch", "6", "4"]]} {
  %rest = ge.Const dense<[2, 3, 4]> : tensor<3xi64>
  %minus = ge.Const dense<-1> : tensor<1xi64>
  %n = ge.Shape(%x) start 0 end 1 : (tensor<?x6x4xf32>) -> tensor<1xi64>
  %t = ge.Concat(%n, %rest) axis 0 : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %y = ge.DynReshape(%x, %t) : (tensor<?x6x4xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %c = ge.Equal(%n, %minus) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  func.return %y, %c : tensor<?x?x?x?xf32>, tensor<1xi1>
}

// -----

// The shape follows from data: the message names the node, the operand and the origin.
// CHECK:      ge.DynReshape: element 0 of operand 'shape' depends on data
// CHECK-SAME: it is made by ge.Mul (ONNX node 'double') and goes back to the values of input n
// CHECK-NEXT: in ONNX node 'net/reshape'
// CHECK-NEXT: hint:
func.func @data(%x: tensor<2x12xf32>, %n: tensor<2xi64>) -> tensor<?x?xf32> attributes {ge.input_names = ["x", "n"]} {
  %two = ge.Const dense<2> : tensor<i64>
  %t = ge.Mul(%n, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64> loc("double")
  %y = ge.DynReshape(%x, %t) : (tensor<2x12xf32>, tensor<2xi64>) -> tensor<?x?xf32> loc("net/reshape")
  func.return %y : tensor<?x?xf32>
}
