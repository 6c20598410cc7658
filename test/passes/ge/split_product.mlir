// RUN: gecc-opt %s -p ge-split-product --print-debuginfo | filecheck %s

// Each part is a product with its columns of the weight and of the bias.
// CHECK-LABEL: func.func @two
// CHECK-NEXT:    %w = ge.Const dense<1.000000e+00> : tensor<1x16xf32>
// CHECK-NEXT:    %b = ge.Const dense<3.000000e+00> : tensor<16xf32>
// CHECK-NEXT:    [[Q:%.*]] = ge.MatMulV2(%x, %w, %b) : {{.*}} -> tensor<3x16xf32> loc(fused["product", "split"])
// CHECK-NEXT:    %w_1 = ge.Const dense<2.000000e+00> : tensor<1x16xf32>
// CHECK-NEXT:    %b_1 = ge.Const dense<3.000000e+00> : tensor<16xf32>
// CHECK-NEXT:    [[K:%.*]] = ge.MatMulV2(%x, %w_1, %b_1) : {{.*}} -> tensor<3x16xf32> loc(fused["product", "split"])
// CHECK-NOT:     ge.Split
// CHECK:         func.return [[Q]], [[K]]
func.func @two(%x: tensor<3x1xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  %w = ge.Const dense<[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]> : tensor<1x32xf32>
  %b = ge.Const dense<3.0> : tensor<32xf32>
  %p = ge.MatMulV2(%x, %w, %b) : (tensor<3x1xf32>, tensor<1x32xf32>, tensor<32xf32>) -> tensor<3x32xf32> loc("product")
  %q, %k = ge.Split(%p) axis -1 sizes [16, 16] : (tensor<3x32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>) loc("split")
  func.return %q, %k : tensor<3x16xf32>, tensor<3x16xf32>
}

// Of a transposed weight the parts are rows; parts of different sizes; a batch of rows.
// CHECK-LABEL: func.func @transposed
// CHECK-DAG:     ge.MatMulV2(%x, %w) transpose_x2 true : (tensor<2x3x1xf32>, tensor<32x1xf32>) -> tensor<2x3x32xf32>
// CHECK-DAG:     ge.MatMulV2(%x, %w_1) transpose_x2 true : (tensor<2x3x1xf32>, tensor<16x1xf32>) -> tensor<2x3x16xf32>
// CHECK-NOT:     ge.Split
// CHECK:         func.return
func.func @transposed(%x: tensor<2x3x1xf32>) -> (tensor<2x3x32xf32>, tensor<2x3x16xf32>) {
  %w = ge.Const dense<1.0> : tensor<48x1xf32>
  %p = ge.MatMulV2(%x, %w) transpose_x2 true : (tensor<2x3x1xf32>, tensor<48x1xf32>) -> tensor<2x3x48xf32>
  %q, %k = ge.Split(%p) axis 2 sizes [32, 16] : (tensor<2x3x48xf32>) -> (tensor<2x3x32xf32>, tensor<2x3x16xf32>)
  func.return %q, %k : tensor<2x3x32xf32>, tensor<2x3x16xf32>
}

// Near misses: rows are split, ...
// CHECK-LABEL: func.func @rows
// CHECK:         ge.Split
func.func @rows(%x: tensor<32x1xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %w = ge.Const dense<1.0> : tensor<1x32xf32>
  %p = ge.MatMulV2(%x, %w) : (tensor<32x1xf32>, tensor<1x32xf32>) -> tensor<32x32xf32>
  %q, %k = ge.Split(%p) axis 0 sizes [16, 16] : (tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  func.return %q, %k : tensor<16x32xf32>, tensor<16x32xf32>
}

// ... the product is used as a whole as well, ...
// CHECK-LABEL: func.func @used
// CHECK:         ge.Split
func.func @used(%x: tensor<3x1xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x32xf32>) {
  %w = ge.Const dense<1.0> : tensor<1x32xf32>
  %p = ge.MatMulV2(%x, %w) : (tensor<3x1xf32>, tensor<1x32xf32>) -> tensor<3x32xf32>
  %q, %k = ge.Split(%p) axis 1 sizes [16, 16] : (tensor<3x32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
  func.return %q, %k, %p : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x32xf32>
}

// ... a part is no whole number of vectors, ...
// CHECK-LABEL: func.func @narrow
// CHECK:         ge.Split
func.func @narrow(%x: tensor<3x1xf32>) -> (tensor<3x8xf32>, tensor<3x24xf32>) {
  %w = ge.Const dense<1.0> : tensor<1x32xf32>
  %p = ge.MatMulV2(%x, %w) : (tensor<3x1xf32>, tensor<1x32xf32>) -> tensor<3x32xf32>
  %q, %k = ge.Split(%p) axis 1 sizes [8, 24] : (tensor<3x32xf32>) -> (tensor<3x8xf32>, tensor<3x24xf32>)
  func.return %q, %k : tensor<3x8xf32>, tensor<3x24xf32>
}

// ... the weight is computed, ...
// CHECK-LABEL: func.func @computed
// CHECK:         ge.Split
func.func @computed(%x: tensor<3x1xf32>, %w: tensor<1x32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  %p = ge.MatMulV2(%x, %w) : (tensor<3x1xf32>, tensor<1x32xf32>) -> tensor<3x32xf32>
  %q, %k = ge.Split(%p) axis 1 sizes [16, 16] : (tensor<3x32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
  func.return %q, %k : tensor<3x16xf32>, tensor<3x16xf32>
}

// ... or is a matrix for each batch.
// CHECK-LABEL: func.func @batched
// CHECK:         ge.Split
func.func @batched(%x: tensor<2x3x1xf32>) -> (tensor<2x3x16xf32>, tensor<2x3x16xf32>) {
  %w = ge.Const dense<1.0> : tensor<2x1x32xf32>
  %p = ge.MatMulV2(%x, %w) : (tensor<2x3x1xf32>, tensor<2x1x32xf32>) -> tensor<2x3x32xf32>
  %q, %k = ge.Split(%p) axis 2 sizes [16, 16] : (tensor<2x3x32xf32>) -> (tensor<2x3x16xf32>, tensor<2x3x16xf32>)
  func.return %q, %k : tensor<2x3x16xf32>, tensor<2x3x16xf32>
}
