// RUN: gecc-opt %s | gecc-opt | filecheck %s
// RUN: gecc-opt %s --print-op-generic | gecc-opt | filecheck %s

// Normalisations, pools, reductions.

func.func @main(%x: tensor<2x?x8xf32>, %g: tensor<8xf32>, %i: tensor<2x3x5x?xf32>, %c: tensor<3xf32>) {
  // CHECK: %0 = ge.BatchNorm(%i, %c, %c, %c, %c) : (tensor<2x3x5x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x?xf32>{{$}}
  %0 = ge.BatchNorm(%i, %c, %c, %c, %c) : (tensor<2x3x5x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x?xf32>
  // CHECK-NEXT: %1 = ge.BatchNorm(%i, %c, %c, %c, %c) epsilon 0.001 : (tensor<2x3x5x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x?xf32>{{$}}
  %1 = ge.BatchNorm(%i, %c, %c, %c, %c) epsilon 0.001 : (tensor<2x3x5x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x?xf32>
  // CHECK-NEXT: %2 = ge.LayerNorm(%x, %g, %g) : (tensor<2x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>{{$}}
  %2 = ge.LayerNorm(%x, %g, %g) : (tensor<2x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %3 = ge.LayerNorm(%x, none, %g) axis 1 epsilon 1.0e-12 : (tensor<2x?x8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>{{$}}
  %3 = ge.LayerNorm(%x, none, %g) axis 1 epsilon 1.0e-12 : (tensor<2x?x8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %4 = ge.LayerNorm(%x) : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>{{$}}
  %4 = ge.LayerNorm(%x) : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %5 = ge.RMSNorm(%x, %g) epsilon 1.0e-06 : (tensor<2x?x8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>{{$}}
  %5 = ge.RMSNorm(%x, %g) epsilon 1.0e-06 : (tensor<2x?x8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %6 = ge.Softmax(%x) axis 1 : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>{{$}}
  %6 = ge.Softmax(%x) axis 1 : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %7 = ge.LogSoftmax(%x) : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>{{$}}
  %7 = ge.LogSoftmax(%x) : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %8 = ge.MaxPool(%i) kernel [3, 2] strides [2, 2] pads [1, 0, 1, 0] ceil_mode true : (tensor<2x3x5x?xf32>) -> tensor<2x3x3x?xf32>{{$}}
  %8 = ge.MaxPool(%i) kernel [3, 2] strides [2, 2] pads [1, 0, 1, 0] ceil_mode true : (tensor<2x3x5x?xf32>) -> tensor<2x3x3x?xf32>
  // CHECK-NEXT: %9 = ge.AvgPool(%i) kernel [3, 2] dilations [2, 1] count_include_pad true : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x?xf32>{{$}}
  %9 = ge.AvgPool(%i) kernel [3, 2] dilations [2, 1] count_include_pad true : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x?xf32>
  // CHECK-NEXT: %10 = ge.GlobalAveragePool(%i) : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x1xf32>{{$}}
  %10 = ge.GlobalAveragePool(%i) : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x1xf32>
  // CHECK-NEXT: %11 = ge.GlobalMaxPool(%i) : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x1xf32>{{$}}
  %11 = ge.GlobalMaxPool(%i) : (tensor<2x3x5x?xf32>) -> tensor<2x3x1x1xf32>
  // CHECK-NEXT: %12 = ge.ReduceMean(%x) axes [-1] keep_dims true : (tensor<2x?x8xf32>) -> tensor<2x?x1xf32>{{$}}
  %12 = ge.ReduceMean(%x) axes [-1] keep_dims true : (tensor<2x?x8xf32>) -> tensor<2x?x1xf32>
  // CHECK-NEXT: %13 = ge.ReduceSum(%x) axes [0, 2] : (tensor<2x?x8xf32>) -> tensor<?xf32>{{$}}
  %13 = ge.ReduceSum(%x) axes [0, 2] : (tensor<2x?x8xf32>) -> tensor<?xf32>
  // CHECK-NEXT: %14 = ge.ReduceMax(%x) axes [] : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>{{$}}
  %14 = ge.ReduceMax(%x) axes [] : (tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  // CHECK-NEXT: %15 = ge.ArgMax(%x) axis -1 : (tensor<2x?x8xf32>) -> tensor<2x?xi64>{{$}}
  %15 = ge.ArgMax(%x) axis -1 : (tensor<2x?x8xf32>) -> tensor<2x?xi64>
  // CHECK-NEXT: %16 = ge.ArgMin(%x) axis 1 keep_dims true select_last_index true : (tensor<2x?x8xf32>) -> tensor<2x1x8xi64>{{$}}
  %16 = ge.ArgMin(%x) axis 1 keep_dims true select_last_index true : (tensor<2x?x8xf32>) -> tensor<2x1x8xi64>
  func.return
}
