// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p tile-bufferize | filecheck %s

// CHECK: graph input 0 'tokens' has type tensor<?x8xf32>, expected static dimensions
// CHECK: hint: fix the input shapes
func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {ge.input_names = ["tokens"]} {
  func.return %x : tensor<?x8xf32>
}

// -----

// CHECK: graph output 0 'output_0' has type tensor<1x2x3x4xf32, #ge.layout<NHWC>>, expected row-major
func.func @layout(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32, #ge.layout<NHWC>> {
  %0 = tile.launch @k "TransData" ins(%x : tensor<1x2x3x4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<1x2x3x4xf32, #ge.layout<NHWC>>
  func.return %0 : tensor<1x2x3x4xf32, #ge.layout<NHWC>>
}

// -----

// CHECK: func.func @foreign holds ge.Relu, expected tile.launch, tile.weight, tile.view and tile.join
// CHECK: hint: run fused-to-tile first
func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// CHECK: tile.view of 16 bytes from byte 4 of tensor<4xf32>, which has 16 bytes
func.func @view(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tile.view %x offset 4 : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
