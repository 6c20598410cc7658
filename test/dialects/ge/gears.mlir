// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p ge-dce | filecheck %s

// The functions of a module with gears are one model for several sizes. Verified around every pass.
// CHECK:       builtin.module attributes {ge.gears = "dims"} {
// CHECK-NEXT:    func.func @Batch_0(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:      %0 = ge.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      func.return %0
// CHECK:         func.func @Batch_1(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = ge.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = ge.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %0 : tensor<2x3xf32>
  }
  func.func @Batch_1(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %0 = ge.Relu(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
    func.return %0 : tensor<2x5xf32>
  }
}

// -----
// CHECK: ge.gears: is "sizes", expected one of batch, image, dims
builtin.module attributes {ge.gears = "sizes"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
  func.func @Batch_1(%x: tensor<3xf32>) -> tensor<3xf32> {
    func.return %x : tensor<3xf32>
  }
}

// -----
// CHECK: ge.gears: there are 1 gears, expected 2 to 100 functions
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
}

// -----
// CHECK: ge.gears: @Batch_0 and @Batch_1 take inputs of the same shapes, so that none could tell which to run
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
  func.func @Batch_1(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
}

// -----
// CHECK: ge.gears: the inputs of @Batch_0 and @Batch_1 are tensor<2xf32> and tensor<3xi64>, expected the same but for sizes
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
  func.func @Batch_1(%x: tensor<3xi64>) -> tensor<2xf32> {
    %0 = ge.Const dense<1.0> : tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}

// -----
// CHECK: ge.gears: the outputs of @Batch_0 and @Batch_1 are tensor<2xf32> and tensor<3x1xf32>, expected the same but for sizes
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    func.return %x : tensor<2xf32>
  }
  func.func @Batch_1(%x: tensor<3xf32>) -> tensor<3x1xf32> {
    %0 = ge.Reshape(%x) : (tensor<3xf32>) -> tensor<3x1xf32>
    func.return %0 : tensor<3x1xf32>
  }
}

// -----
// CHECK: ge.gears: ge.input_names of @Batch_0 and @Batch_1 differ, expected the same in every gear
builtin.module attributes {ge.gears = "dims"} {
  func.func @Batch_0(%x: tensor<2xf32>) -> tensor<2xf32> attributes {ge.input_names = ["a"]} {
    func.return %x : tensor<2xf32>
  }
  func.func @Batch_1(%x: tensor<3xf32>) -> tensor<3xf32> attributes {ge.input_names = ["b"]} {
    func.return %x : tensor<3xf32>
  }
}
