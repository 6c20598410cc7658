// The two-layer perceptron at every level: each layer is one operation with its bias, GELU and all, then one kernel,
// one launch and one task.

// RUN: gecc-opt %s -O2 --stage ge | filecheck %s --check-prefix=GE
// RUN: gecc-opt %s -O2 --stage fused | filecheck %s --check-prefix=FUSED
// RUN: gecc-opt %s -O2 --stage tile | filecheck %s --check-prefix=TILE
// RUN: gecc-opt %s -O2 --stage buffer | filecheck %s --check-prefix=BUFFER
// RUN: gecc-opt %s -O2 --stage om | filecheck %s --check-prefix=OM

// GE-LABEL: func.func @main
// GE:         %[[M:.*]] = ge.MatMulV2(%x, {{%.*}}, {{%.*}}) : (tensor<32x24xf32>, tensor<24x96xf32>, tensor<96xf32>) -> tensor<32x96xf32>
// GE-NEXT:    %[[G:.*]] = ge.Gelu(%[[M]]) : (tensor<32x96xf32>) -> tensor<32x96xf32>
// GE:         %[[Y:.*]] = ge.MatMulV2(%[[G]], {{%.*}}, {{%.*}}) : (tensor<32x96xf32>, tensor<96x24xf32>, tensor<24xf32>) -> tensor<32x24xf32>
// GE-NEXT:    func.return %[[Y]]

// FUSED-LABEL: func.func @main
// FUSED:         %[[H:.*]] = fused.matmul "MatMulV2Gelu"(%x, {{%.*}}, {{%.*}}) {packed
// FUSED:           math.erf
// FUSED:         %[[Y:.*]] = fused.matmul "MatMulV2"(%[[H]], {{%.*}}, {{%.*}}) {packed
// FUSED-NOT:     fused.generic
// FUSED:         func.return %[[Y]]

// TILE:         tile.kernel @[[K1:MatMulV2Gelu_[0-9x]*]](
// TILE:           tile.mma
// TILE:         tile.kernel @[[K2:MatMulV2_[0-9x]*]](
// TILE:           tile.mma
// TILE-LABEL:   func.func @main
// TILE:           %[[H:.*]] = tile.launch @[[K1]] "MatMulV2Gelu" ins(%x,
// TILE:           %[[Y:.*]] = tile.launch @[[K2]] "MatMulV2" ins(%[[H]],
// TILE-NOT:       tile.launch
// TILE:           func.return %[[Y]]

// BUFFER-LABEL: func.func @main()
// BUFFER-DAG:     %[[X:.*]] = tile.input 0 : memref<32x24xf32>
// BUFFER-DAG:     %[[Y:.*]] = tile.output 0 : memref<32x24xf32>
// BUFFER:         %[[H:.*]] = tile.alloc bytes 12288 align 64 offset 0 : memref<32x96xf32>
// BUFFER:         tile.launch @MatMulV2Gelu_{{.*}} outs(%[[H]] : memref<32x96xf32>) {{.*}} phase 0
// BUFFER:         tile.launch @MatMulV2_{{.*}} ins(%[[H]], {{.*}} outs(%[[Y]] : memref<32x24xf32>) {{.*}} phase 1
// BUFFER-NOT:     tile.launch
// BUFFER:         func.return

// OM:         om.model "main" target {{.*}} arena 12288
// OM:           om.node "MatMulV2Gelu"
// OM:           om.node "MatMulV2"
// OM:           om.kernel "MatMulV2Gelu_{{.*}}" "MatMulV2Gelu" node 0
// OM:           om.event_record 0
// OM-NEXT:      om.event_wait 0
// OM-NEXT:      om.kernel "MatMulV2_{{.*}}" "MatMulV2" node 1
// OM-NOT:       om.kernel

func.func @main(%x: tensor<32x24xf32>) -> tensor<32x24xf32> {
  %w1 = ge.Const dense<0.5> : tensor<24x96xf32>
  %b1 = ge.Const dense<0.25> : tensor<96xf32>
  %w2 = ge.Const dense<0.125> : tensor<96x24xf32>
  %b2 = ge.Const dense<1.0> : tensor<24xf32>
  %sqrt2 = ge.Const dense<1.41421354> : tensor<f32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %half = ge.Const dense<0.5> : tensor<f32>
  %0 = ge.MatMulV2(%x, %w1) : (tensor<32x24xf32>, tensor<24x96xf32>) -> tensor<32x96xf32>
  %1 = ge.Add(%0, %b1) : (tensor<32x96xf32>, tensor<96xf32>) -> tensor<32x96xf32>
  %2 = ge.RealDiv(%1, %sqrt2) : (tensor<32x96xf32>, tensor<f32>) -> tensor<32x96xf32>
  %3 = ge.Erf(%2) : (tensor<32x96xf32>) -> tensor<32x96xf32>
  %4 = ge.Add(%3, %one) : (tensor<32x96xf32>, tensor<f32>) -> tensor<32x96xf32>
  %5 = ge.Mul(%1, %4) : (tensor<32x96xf32>, tensor<32x96xf32>) -> tensor<32x96xf32>
  %6 = ge.Mul(%5, %half) : (tensor<32x96xf32>, tensor<f32>) -> tensor<32x96xf32>
  %7 = ge.MatMulV2(%6, %w2) : (tensor<32x96xf32>, tensor<96x24xf32>) -> tensor<32x24xf32>
  %8 = ge.Add(%7, %b2) : (tensor<32x24xf32>, tensor<24xf32>) -> tensor<32x24xf32>
  func.return %8 : tensor<32x24xf32>
}
