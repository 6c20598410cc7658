// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @no_operator(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp: op_type is empty
  %0 = ge.HostOp "" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @opset(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp ai.onnx::Abs: opset is 0, expected 1 or more
  %0 = ge.HostOp "Abs" domain "" opset 0 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @program(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp ai.onnx.ml::Scaler: the program is tensor<3xf32>, expected the bytes of a model
  %0 = ge.HostOp "Scaler" domain "ai.onnx.ml" opset 3 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<3xf32>> (%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @nothing(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp ai.onnx::Abs: has no results, expected one or more
  ge.HostOp "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

func.func @layout(%x: tensor<1x2x3x4xf32, #ge.layout<NHWC>>) {
  // CHECK: ge.HostOp ai.onnx::Abs: operand 0 has type tensor<1x2x3x4xf32, #ge.layout<NHWC>>, expected a row-major tensor
  %0 = ge.HostOp "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) : (tensor<1x2x3x4xf32, #ge.layout<NHWC>>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp ai.onnx::NonZero: result 0 has type tensor<1x?xi64>; what has no static shape is an object
  %0 = ge.HostOp "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) : (tensor<4xf32>) -> tensor<1x?xi64>
  func.return
}

// -----

func.func @reason(%x: tensor<4xf32>) {
  // CHECK: ge.HostOp ai.onnx::Abs: reason is 1 : i64, expected a string
  %0 = ge.HostOp "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) {reason = 1} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: 'tensor(float' is no type of ONNX
func.func @spelling(%x: !ge.object<"tensor(float">) {
  func.return
}
