// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p ge-cse | filecheck %s

// What is wrong, with the operation; the rest of the module is not printed.
// CHECK:      error: result has type tensor<4xf32>, expected tensor<3xf32>
// CHECK-NEXT:   in %0 = "ge.Relu"(%x) : (tensor<3xf32>) -> tensor<4xf32>
// CHECK-NEXT: //{{ }}-----
func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {
  %0 = ge.Relu(%x) : (tensor<3xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----
// The lines of the parser's messages are those of the file.
// CHECK-NEXT: {{.*}}gecc_opt_verify.mlir:17:19
// CHECK:      //{{ }}-----
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = ge.NoSuchOp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----
// What comes after is run.
// CHECK:      ge.Exp
// CHECK-NEXT: func.return
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = ge.Exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = ge.Exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
