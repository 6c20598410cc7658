// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'om.input' comes after 'om.output', expected before
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  om.output "y" : tensor<f32>
  %x = om.input "x" : tensor<f32>
}

// -----
// CHECK: om.model: holds 'arith.constant', expected only operations of the om dialect
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  %c = arith.constant 1 : i32
}

// -----
// CHECK: om.event_record: event is 1, expected 0, the phase's
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  om.event_record 1
}

// -----
// CHECK: om.model: ends with om.event_record 0, expected its om.event_wait
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  om.event_record 0
}

// -----
// CHECK: om.model: task 'om.event_record' in phase 0, expected om.event_wait after om.event_record
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  om.event_record 0
  om.event_record 0
}

// -----
// CHECK: om.model: task 'om.event_wait' in phase 0, expected a task or om.event_record
om.model "m" target "t" abi 1 arena 0 scratch 0 producer "p" {
  om.event_wait 0
}

// -----
// CHECK: 64 bytes at 100 do not fit the 128 of ARENA
// CHECK: in om.model "m", task 0 'Exp', operand 0
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.kernel "k" "Exp" node 0 blocks 1 ins [] outs [#om.mem<arena, 100, 64>] params []
}

// -----
// CHECK: operand 1 is written in WEIGHTS, expected ARENA or OUTPUT
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %w = om.weight "w" at 512 "ND" dense<1.0> : tensor<f32> : tensor<f32>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.kernel "k" "Exp" node 0 blocks 1 ins [#om.mem<arena, 0, 4>] outs [#om.mem<weights, 512, 4>] params []
}

// -----
// CHECK: is in INPUT 1, the model has 1
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %i = om.input "i" : tensor<f32>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.kernel "k" "Exp" node 0 blocks 1 ins [#om.mem<input 1, 0, 4>] outs [] params []
}

// -----
// CHECK: op_index is 1, expected one of the 1 nodes
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.kernel "k" "Exp" node 1 blocks 1 ins [] outs [] params []
}

// -----
// CHECK: tasks 0 and 1 of phase 0 both touch ARENA from 32 on, and one writes
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.kernel "k" "Exp" node 0 blocks 1 ins [] outs [#om.mem<arena, 0, 64>] params []
  om.kernel "k" "Exp" node 0 blocks 1 ins [#om.mem<arena, 32, 64>] outs [] params []
}

// -----
// CHECK: offset is 500, expected a positive multiple of 512
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %w = om.weight "w" at 500 "ND" dense<1.0> : tensor<f32> : tensor<f32>
}

// -----
// CHECK: inputs 0 and 1 have the same name 'x'
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.input "x" : tensor<f32>
  %y = om.input "x" : tensor<f32>
}

// -----
// CHECK: om.model: has 1 entries and no blob
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  om.entry "k" at 0 size 4
}

// -----
// CHECK: kernel 'other' is not among the 1 kernels it may launch
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" blob <"1901da1c9f699b48f6b2636e65cbf73abf99d0441ef67f5c540a42f7051dec6f", tensor<4xi8>> {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.entry "k" at 0 size 4
  om.kernel "other" "Exp" node 0 blocks 1 ins [] outs [] params []
}

// -----
// CHECK: om.node "Exp" "exp": has 2 layouts for 1 results
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] layouts ["ND", "ND"] -> tensor<f32>
}

// -----
// CHECK: om.node "Exp" "exp": absent is [3], expected ascending positions below 1
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () absent [3] onnx [] -> tensor<f32>
}

// -----
// CHECK: om.output "y": has 2 values, expected at most 1
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.output "y" : tensor<f32> = %x, %x : tensor<f32>, tensor<f32>
}

// -----
// CHECK: 1 : i32 has no form in the container: expected i1, i64, f32, a string, or an array of them
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" values {a = 1 : i32} {
}

// -----
// CHECK: space is 'moon', expected one of arena, weights, input, output
om.model "m" target "t" abi 1 arena 128 scratch 0 producer "p" {
  om.kernel "k" "Exp" node 0 blocks 1 ins [#om.mem<moon, 0, 4>] outs [] params []
}

// -----
// CHECK: jumps to label 1, which no task sets
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.goto 1 node 0
}

// -----
// CHECK: sets label 0, as task 0 does
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.label 0 node 0
}

// -----
// CHECK: sets label 1, expected 0 to 0
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 1 node 0
}

// -----
// CHECK: that of the task before, which only kernels can share
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.goto 0 node 0
}

// -----
// CHECK: the index has 2 bytes, expected one of (1, 4, 8)
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.switch <arena, 0, 2> targets [0] node 0
}

// -----
// CHECK: 8 bytes at 60 do not fit the 64 of ARENA
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.switch <arena, 60, 8> targets [0] node 0
}

// -----
// CHECK: jumps to label 3, which no task sets
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.switch <arena, 0, 8> targets [0, 3] node 0
}

// -----
// CHECK: has no labels, expected at least 1
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
  om.event_record 0
  om.event_wait 0
  om.switch <arena, 0, 8> targets [] node 0
}

// -----
// CHECK: only kernels can run with ABI 1, jumps need 2
om.model "m" target "t" abi 1 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.label 0 node 0
}

// -----
// CHECK: the program is 4 bytes in ARENA, expected some in WEIGHTS
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.host "H" node 0 program <arena, 0, 4> ins [] outs []
}

// -----
// CHECK: is in slot 2, expected one of the 2
om.model "m" target "t" abi 2 arena 64 scratch 0 slots 2 producer "p" {
  %w = om.weight "w" at 512 "ND" dense<[1, 2, 3, 4]> : tensor<4xui8> : tensor<4xui8>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.host "H" node 0 program <weights, 512, 4> ins [#om.slot<2, "tensor(string)">] outs []
}

// -----
// CHECK: the type of an object is 'f32', expected an ONNX type such as 'tensor(string)'
om.model "m" target "t" abi 2 arena 64 scratch 0 slots 2 producer "p" {
  %w = om.weight "w" at 512 "ND" dense<[1, 2, 3, 4]> : tensor<4xui8> : tensor<4xui8>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.host "H" node 0 program <weights, 512, 4> ins [#om.slot<1, "f32">] outs []
}

// -----
// CHECK: has 8 bytes, expected 32 for shape [2, 4] of f32
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %w = om.weight "w" at 512 "ND" dense<[1, 2, 3, 4]> : tensor<4xui8> : tensor<4xui8>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.host "H" node 0 program <weights, 512, 4> ins [#om.tensor<#om.mem<arena, 0, 8>, "f32", array<i64: 2, 4>>] outs []
}

// -----
// CHECK: operand 0 is written in WEIGHTS, expected ARENA or OUTPUT
om.model "m" target "t" abi 2 arena 64 scratch 0 producer "p" {
  %w = om.weight "w" at 512 "ND" dense<[1, 2, 3, 4]> : tensor<4xui8> : tensor<4xui8>
  %x = om.node "Exp" "exp" () onnx [] -> tensor<f32>
  om.host "H" node 0 program <weights, 512, 4> ins [] outs [#om.tensor<#om.mem<weights, 512, 4>, "ui8", array<i64: 4>>]
}

// -----
// CHECK: is in slot 1, expected one of the 1
om.model "m" target "t" abi 2 arena 0 scratch 0 slots 1 producer "p" {
  %s = om.input "s" object <1, array<i64>> : !om.object<"tensor(string)">
}

// -----
// CHECK: there are 1 gears, expected 2 to 100
om.model "m" target "t" abi 2 arena 0 scratch 0 producer "p" {
  %x = om.input "x" gears [array<i64: 2, 3>] : tensor<2x3xf32>
}

// -----
// CHECK: shape is [4, 3], expected [-1, 3], -1 where its shapes in the gears differ
om.model "m" target "t" abi 2 arena 0 scratch 0 producer "p" {
  %x = om.input "x" gears [array<i64: 2, 3>, array<i64: 4, 3>] : tensor<4x3xf32>
}

// -----
// CHECK: a model of 2 gears begins with None, expected a switch of 2 labels
om.model "m" target "t" abi 2 arena 0 scratch 0 producer "p" {
  %x = om.input "x" gears [array<i64: 2, 3>, array<i64: 4, 3>] : tensor<?x3xf32>
}
