// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// A whole model: interface, weights (by digest or dense), nodes, entries of the blob, two phases of tasks.
// CHECK-LABEL: om.model "net" target "x86-64-v4" abi 1 arena 128 scratch 4096 producer "gecc 0.1.0"
// CHECK-SAME:    dispatcher "run" blob <"{{[0-9a-f]+}}", tensor<192xi8>> values {gears = array<i64: 1, 2>} {
om.model "net" target "x86-64-v4" abi 1 arena 128 scratch 4096 producer "gecc 0.1.0" dispatcher "run" blob <"1901da1c9f699b48f6b2636e65cbf73abf99d0441ef67f5c540a42f7051dec6f", tensor<192xi8>> values {gears = array<i64: 1, 2>} {
  // CHECK-NEXT: %x = om.input "x" : tensor<1x8xf32>
  %x = om.input "x" : tensor<1x8xf32>
  // CHECK-NEXT: %w = om.weight "w" at 512 "FRACTAL_Z" #ge.weight<"{{[0-9a-f]+}}", tensor<64xf32>> : tensor<64xf32>
  %w = om.weight "w" at 512 "FRACTAL_Z" #ge.weight<"21b9ca0f94efa26b229b2d90151c5d0296c3944dc3053a8a28e871d289d50519", tensor<64xf32>> : tensor<64xf32>
  // CHECK-NEXT: %b = om.weight "b" at 1024 "ND" dense<[1, 2, 3]> : tensor<3xui8> : tensor<3xui8>
  %b = om.weight "b" at 1024 "ND" dense<[1, 2, 3]> : tensor<3xui8> : tensor<3xui8>
  // CHECK-NEXT: %h = om.node "MatMulV2Relu" "fc"(%x, %w : tensor<1x8xf32>, tensor<64xf32>) absent [1] onnx ["fc/MatMul", "fc/Relu"]
  // CHECK-SAME:   places [#om.mem<arena, 64, 32>] values {alpha = 5.000000e-01 : f32, modes = ["a", "b"], transpose = true} -> tensor<1x8xf32>
  %h = om.node "MatMulV2Relu" "fc" (%x, %w : tensor<1x8xf32>, tensor<64xf32>) absent [1] onnx ["fc/MatMul", "fc/Relu"] places [#om.mem<arena, 64, 32>] values {alpha = 0.5 : f32, modes = ["a", "b"], transpose = true} -> tensor<1x8xf32>
  // CHECK-NEXT: %y, %n = om.node "Split" ""(%h : tensor<1x8xf32>) onnx [] layouts ["NHWC", "ND"] places [unit, #om.mem<output 0, 0, 16>]
  // CHECK-SAME:   -> tensor<1x4xf32>, tensor<?x4xf32>
  %y, %n = om.node "Split" "" (%h : tensor<1x8xf32>) onnx [] layouts ["NHWC", "ND"] places [unit, #om.mem<output 0, 0, 16>] -> tensor<1x4xf32>, tensor<?x4xf32>
  // CHECK-NEXT: om.output "y" : tensor<1x4xf32> = %n : tensor<?x4xf32>
  om.output "y" : tensor<1x4xf32> = %n : tensor<?x4xf32>
  // CHECK-NEXT: om.output "unconnected" : tensor<0xi64>
  om.output "unconnected" : tensor<0xi64>
  // CHECK-NEXT: om.entry "run" at 0 size 64
  om.entry "run" at 0 size 64
  om.entry "matmul" at 64 size 64
  om.entry "copy" at 128 size 64
  // CHECK:      om.kernel "matmul" "MatMulV2Relu" node 0 blocks 4 ins [#om.mem<input 0, 0, 32>, #om.mem<weights, 512, 256>]
  // CHECK-SAME:   outs [#om.mem<arena, 64, 32>] params [8, -1]
  om.kernel "matmul" "MatMulV2Relu" node 0 blocks 4 ins [#om.mem<input 0, 0, 32>, #om.mem<weights, 512, 256>] outs [#om.mem<arena, 64, 32>] params [8, -1]
  // CHECK-NEXT: om.event_record 0
  // CHECK-NEXT: om.event_wait 0
  om.event_record 0
  om.event_wait 0
  // CHECK-NEXT: om.kernel "copy" "Split" node 1 blocks 1 ins [#om.mem<arena, 64, 16>] outs [#om.mem<output 0, 0, 16>] params []
  om.kernel "copy" "Split" node 1 blocks 1 ins [#om.mem<arena, 64, 16>] outs [#om.mem<output 0, 0, 16>] params []
}

// Names with other than ASCII characters keep their bytes; a model may be empty, and its code may be still to come.
// CHECK-LABEL: om.model "gr\C3\B6\C3\9Fe" target "aarch64" abi 0 arena 0 scratch 0 producer "gecc" {
om.model "größe" target "aarch64" abi 0 arena 0 scratch 0 producer "gecc" {
  %x = om.node "Exp" "exp" () onnx ["exp"] -> tensor<f32>
  om.output "y" : tensor<f32> = %x : tensor<f32>
  // CHECK: om.kernel "k_not_compiled_yet" "Exp" node 0 blocks 1 ins [] outs [#om.mem<output 0, 0, 4>] params []
  om.kernel "k_not_compiled_yet" "Exp" node 0 blocks 1 ins [] outs [#om.mem<output 0, 0, 4>] params []
}

// Jumps and calls of the host engine; objects live in slots, a graph input or output may be one.
// CHECK-LABEL: om.model "jumps" target "t" abi 2 arena 64 scratch 0 slots 2 producer "p" {
om.model "jumps" target "t" abi 2 arena 64 scratch 0 slots 2 producer "p" {
  // CHECK-NEXT: %s = om.input "s" object <0, array<i64: -1, 3>> : !om.object<"tensor(string)">
  %s = om.input "s" object <0, array<i64: -1, 3>> : !om.object<"tensor(string)">
  %p = om.weight "p" at 512 "ND" dense<[1, 2, 3, 4]> : tensor<4xui8> : tensor<4xui8>
  // CHECK:      %t = om.node "Loop" "loop"(%s : !om.object<"tensor(string)">) onnx ["loop"] -> !om.object<"seq(tensor(string))">
  %t = om.node "Loop" "loop"(%s : !om.object<"tensor(string)">) onnx ["loop"] -> !om.object<"seq(tensor(string))">
  // CHECK-NEXT: om.output "t" object <1, array<i64>> : !om.object<"seq(tensor(string))"> = %t : !om.object<"seq(tensor(string))">
  om.output "t" object <1, array<i64>> : !om.object<"seq(tensor(string))"> = %t : !om.object<"seq(tensor(string))">
  // CHECK-NEXT: om.label 0 node 0
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  // CHECK:      om.switch <arena, 0, 1> targets [1, 0] node 0
  om.switch <arena, 0, 1> targets [1, 0] node 0
  om.event_record 1
  om.event_wait 1
  // CHECK:      om.host "StringConcat" node 0 program <weights, 512, 4>
  // CHECK-SAME:   ins [#om.slot<0, "tensor(string)">, #om.tensor<#om.mem<arena, 0, 32>, "f32", array<i64: 2, 4>>]
  // CHECK-SAME:   outs [#om.slot<1, "seq(tensor(string))">]
  om.host "StringConcat" node 0 program <weights, 512, 4> ins [#om.slot<0, "tensor(string)">, #om.tensor<#om.mem<arena, 0, 32>, "f32", array<i64: 2, 4>>] outs [#om.slot<1, "seq(tensor(string))">]
  om.event_record 2
  om.event_wait 2
  // CHECK:      om.goto 0 node 0
  om.goto 0 node 0
  om.event_record 3
  om.event_wait 3
  // CHECK:      om.label 1 node 0
  om.label 1 node 0
}

// Gears: shapes of inputs and outputs in each, and a switch on the number of the run's gear.
// CHECK-LABEL: om.model "gears" target "t" abi 2 arena 0 scratch 0 producer "p" {
om.model "gears" target "t" abi 2 arena 0 scratch 0 producer "p" {
  // CHECK-NEXT: %x = om.input "x" gears [array<i64: 2, 3>, array<i64: 4, 3>] : tensor<?x3xf32>
  %x = om.input "x" gears [array<i64: 2, 3>, array<i64: 4, 3>] : tensor<?x3xf32>
  %y = om.node "Case" "case"(%x : tensor<?x3xf32>) onnx [] -> tensor<f32>
  // CHECK:      om.output "y" gears [array<i64>, array<i64>] : tensor<f32> = %y : tensor<f32>
  om.output "y" gears [array<i64>, array<i64>] : tensor<f32> = %y : tensor<f32>
  // CHECK-NEXT: om.switch <gear, 0, 8> targets [0, 1] node 0
  om.switch <gear, 0, 8> targets [0, 1] node 0
  om.event_record 0
  om.event_wait 0
  om.label 0 node 0
  om.event_record 1
  om.event_wait 1
  om.goto 2 node 0
  om.event_record 2
  om.event_wait 2
  om.label 1 node 0
  om.event_record 3
  om.event_wait 3
  om.goto 2 node 0
  om.event_record 4
  om.event_wait 4
  om.label 2 node 0
}
