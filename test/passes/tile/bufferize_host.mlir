// RUN: gecc-opt %s -p fused-to-tile | filecheck %s --check-prefix TILE
// RUN: gecc-opt %s -p fused-to-tile,tile-bufferize | filecheck %s --check-prefix MEM
// RUN: gecc-opt %s -p fused-to-tile,tile-bufferize,tile-schedule,tile-allocate-buffers | filecheck %s --check-prefix PHASE

// TILE-LABEL: func.func @main
// TILE:         [[N:%.+]] = tile.host "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins(%x : tensor<2x3xf32>) {reason = "data"} -> !ge.object<"tensor(int64)">
// TILE:         tile.host "Shape" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> ins([[N]] : !ge.object<"tensor(int64)">) -> tensor<2xi64>

// An object has a slot, a tensor memory; an object that is returned says which output it is, twice if it is twice.
// MEM-LABEL: func.func @main
// MEM:         [[Q:%.+]] = tile.slot 0 input 1 output [2] : !ge.object<"seq(tensor(float))">
// MEM:         [[Y:%.+]] = tile.output 0 : memref<2xi64>
// MEM:         [[N:%.+]] = tile.slot 1 output [1, 3] : !ge.object<"tensor(int64)">
// MEM:         tile.host "NonZero" {{.*}} ins({{.*}} : memref<2x3xf32>) outs([[N]] : !ge.object<"tensor(int64)">)
// MEM:         [[S:%.+]] = tile.alloc bytes 16
// MEM:         tile.host "Shape" {{.*}} ins([[N]] : !ge.object<"tensor(int64)">) outs([[S]] : memref<2xi64>)
// MEM:         tile.host "Abs" {{.*}} ins([[S]] : memref<2xi64>) outs([[Y]] : memref<2xi64>)

// Calls of the host are alone in their phases, even where nothing connects them.
// PHASE-LABEL: func.func @main
// PHASE:         tile.host "NonZero" {{.*}} phase 0
// PHASE:         tile.host "Shape" {{.*}} phase 1
// PHASE:         tile.host "Abs" {{.*}} phase 2
func.func @main(%x: tensor<2x3xf32>, %q: !ge.object<"seq(tensor(float))">) -> (tensor<2xi64>, !ge.object<"tensor(int64)">, !ge.object<"seq(tensor(float))">, !ge.object<"tensor(int64)">) {
  %n = fused.host "NonZero" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%x) {reason = "data"} : (tensor<2x3xf32>) -> !ge.object<"tensor(int64)">
  %s = fused.host "Shape" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%n) : (!ge.object<"tensor(int64)">) -> tensor<2xi64>
  %y = fused.host "Abs" domain "" opset 13 program <"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tensor<12xui8>> (%s) : (tensor<2xi64>) -> tensor<2xi64>
  func.return %y, %n, %q, %n : tensor<2xi64>, !ge.object<"tensor(int64)">, !ge.object<"seq(tensor(float))">, !ge.object<"tensor(int64)">
}
