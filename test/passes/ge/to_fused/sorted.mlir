// RUN: gecc-opt %s -p ge-to-fused | filecheck %s

// An axis of 200 is four runs of 50: keys, ranks, items by rank, two merges, then indices and values.
// CHECK-LABEL: func.func @top(
// CHECK-NEXT: fused.generic "TopK"(%x) : (tensor<200xf32>) -> tensor<200xi64> body
// CHECK: fused.generic "TopK"(%{{.*}}) {combiner = "add", reduction = array<i64: 50>} : (tensor<200xi64>) -> tensor<200xi64> body
// CHECK: fused.generic "TopK"(%{{.*}}, %{{.*}}) {combiner = "add", reduction = array<i64: 50>} : (tensor<200xi64>, tensor<200xi64>) -> tensor<40xi64> body
// CHECK: fused.generic "TopK"(%{{.*}}) : (tensor<40xi64>) -> tensor<20xi64> body
// CHECK: fused.generic "TopK"(%{{.*}}) : (tensor<20xi64>) -> tensor<10xi64> body
// CHECK: fused.generic "TopK"(%{{.*}}) : (tensor<10xi64>) -> tensor<10xi64> body
// CHECK: fused.generic "TopK"(%x, %{{.*}}) : (tensor<200xf32>, tensor<10xi64>) -> tensor<10xf32> body
func.func @top(%x: tensor<200xf32>) -> (tensor<10xf32>, tensor<10xi64>) {
  %0, %1 = ge.TopK(%x) k 10 : (tensor<200xf32>) -> (tensor<10xf32>, tensor<10xi64>)
  func.return %0, %1 : tensor<10xf32>, tensor<10xi64>
}

// The largest of many is an ArgMax.
// CHECK-LABEL: func.func @one(
// CHECK: fused.generic "ReduceMax"
// CHECK: fused.generic "ArgMax"
// CHECK: fused.generic "GatherElements"
func.func @one(%x: tensor<200xf32>) -> (tensor<1xf32>, tensor<1xi64>) {
  %0, %1 = ge.TopK(%x) k 1 : (tensor<200xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  func.return %0, %1 : tensor<1xf32>, tensor<1xi64>
}

// Many updates are sorted by their place; rows look for theirs once.
// CHECK-LABEL: func.func @scatter(
// CHECK: fused.generic "ScatterND"(%{{.*}}) : (tensor<300x1xi64>) -> tensor<300x1xi32> body
// CHECK: fused.generic "TopK"
// CHECK: fused.generic "ScatterND"(%{{.*}}) : (tensor<300x1xi64>) -> tensor<8x1xi64> body
// CHECK: fused.generic "ScatterND"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<8x2xf32>, tensor<300x1xi64>, tensor<300x2xf32>, tensor<8x1xi64>) -> tensor<8x2xf32> body
func.func @scatter(%x: tensor<8x2xf32>, %i: tensor<300x1xi64>, %u: tensor<300x2xf32>) -> tensor<8x2xf32> {
  %0 = ge.ScatterND(%x, %i, %u) : (tensor<8x2xf32>, tensor<300x1xi64>, tensor<300x2xf32>) -> tensor<8x2xf32>
  func.return %0 : tensor<8x2xf32>
}
