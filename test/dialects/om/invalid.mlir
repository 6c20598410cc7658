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
// CHECK: om.model: task 'om.event_wait' in phase 0, expected om.kernel or om.event_record
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
