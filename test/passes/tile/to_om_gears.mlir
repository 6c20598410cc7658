// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p 'tile-to-om{target="x86-64-v4"}' | filecheck %s

// Gears become one list of tasks: a switch on the gear, then each gear between its label and a jump to the end. Labels
// and phases of a gear follow those before; equal weights are stored once; inputs and outputs have a shape in each gear.
// CHECK-NOT:     ge.gears
// CHECK:         om.model "main" target "x86-64-v4" abi {{[0-9]+}} arena 64 scratch 256 producer "gecc"
// CHECK-NEXT:      [[X:%.*]] = om.input "x" gears [array<i64: 4>, array<i64: 8>] : tensor<?xf32>
// CHECK-NEXT:      [[W:%.*]] = om.weight "weight_0" at 512 "ND" dense<{{.*}}> : tensor<1xf32> : tensor<1xf32>
// CHECK-NEXT:      om.node "Case" "ascend_mbatch_shape_case"([[X]] : tensor<?xf32>) onnx []
// CHECK-SAME:        _batch_num = 2 : i64
// CHECK-SAME:        _mbatch_dynamic_type = 1 : i64
// CHECK-SAME:        _pred_value_0 = array<i64: 4>, _pred_value_1 = array<i64: 8>
// CHECK-SAME:        _user_designate_shape_order = ["x"]
// CHECK-NEXT:      om.node "LabelSet" "label_0_ascend_mbatch_batch_0"
// CHECK-NEXT:      [[A:%.*]] = om.node "Add" "Add_ascend_mbatch_batch_0"([[X]], [[W]] : {{.*}}_batch_label = "Batch_0"
// CHECK:           om.node "LabelGoto" "goto_2_ascend_mbatch_batch_0"
// CHECK-NEXT:      om.node "LabelSet" "label_1_ascend_mbatch_batch_1"
// CHECK-NEXT:      om.node "LabelSet" "graph/LabelSet_3_ascend_mbatch_batch_1"
// CHECK:           [[B:%.*]] = om.node "Add" "Add_ascend_mbatch_batch_1"([[X]], [[W]] : {{.*}}_batch_label = "Batch_1"
// CHECK:           [[Y:%.*]] = om.node "Merge" "ascend_mbatch_shape_merge"([[A]], [[B]] : tensor<4xf32>, tensor<8xf32>) onnx [] places [#om.mem<output 0, 0, 32>] -> tensor<?xf32>
// CHECK-NEXT:      om.output "y" gears [array<i64: 4>, array<i64: 8>] : tensor<?xf32> = [[Y]] : tensor<?xf32>
// CHECK-NEXT:      om.switch <gear, 0, 8> targets [0, 1] node 0
// CHECK:           om.label 0 node 1
// CHECK:           om.kernel "k" "Add" node 2 blocks 1 ins [#om.mem<input 0, 0, 16>, #om.mem<weights, 512, 4>] outs [#om.mem<output 0, 0, 16>]
// CHECK:           om.goto 2
// CHECK:           om.label 1
// CHECK:           om.label 3
// CHECK:           om.kernel "k" "Add" node {{[0-9]+}} blocks 2 ins [#om.mem<input 0, 0, 32>, #om.mem<weights, 512, 4>] outs [#om.mem<output 0, 0, 32>]
// CHECK:           om.switch <arena, 0, 1> targets [3, 4]
// CHECK:           om.label 4
// CHECK:           om.goto 2
// CHECK:           om.label 2
// CHECK-NEXT:    }
builtin.module attributes {ge.gears = "batch", tile.memory = {arena = 64 : i64}} {
func.func @Batch_0() attributes {ge.input_names = ["x"], ge.output_names = ["y"], tile.signature = (tensor<4xf32>) -> tensor<4xf32>} {
  %x = tile.input 0 : memref<4xf32>
  %y = tile.output 0 : memref<4xf32>
  %w = tile.weight dense<2.0> : tensor<1xf32> -> memref<1xf32>
  tile.launch @k "Add" ins(%x, %w : memref<4xf32>, memref<1xf32>) outs(%y : memref<4xf32>) params [] blocks 1 scratch 0 inplace [] phase 0
  func.return
}
func.func @Batch_1() attributes {ge.input_names = ["x"], ge.output_names = ["y"], tile.signature = (tensor<8xf32>) -> tensor<8xf32>} {
  %x = tile.input 0 : memref<8xf32>
  %y = tile.output 0 : memref<8xf32>
  %w = tile.weight dense<2.0> : tensor<1xf32> -> memref<1xf32>
  %c = tile.alloc bytes 1 align 64 offset 0 : memref<i1>
  tile.label 0 phase 0
  tile.launch @k "Add" ins(%x, %w : memref<8xf32>, memref<1xf32>) outs(%y : memref<8xf32>) params [] blocks 2 scratch 256 inplace [] phase 1
  tile.launch @c "Less" ins(%x : memref<8xf32>) outs(%c : memref<i1>) params [] blocks 1 scratch 0 inplace [] phase 1
  tile.switch %c [0, 1] phase 2 : memref<i1>
  tile.label 1 phase 3
  func.return
}
}

// -----
// Several functions without gears are refused.
// CHECK: the module has 2 functions, expected one
func.func @a() {
  func.return
}
func.func @b() {
  func.return
}
