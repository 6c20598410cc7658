// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @both(%x: tensor<4xf32>, %m: memref<4xf32>) {
  // CHECK: tile.host ai.onnx::Abs: has 0 results and 0 outputs in memory, expected one kind
  tile.host "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins(%x : tensor<4xf32>)
  func.return
}

// -----

func.func @mixed(%x: tensor<4xf32>, %m: memref<4xf32>) {
  // CHECK: tile.host ai.onnx::Abs: input 0 is tensor<4xf32>, expected memory or an object
  tile.host "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins(%x : tensor<4xf32>) outs(%m : memref<4xf32>)
  func.return
}
