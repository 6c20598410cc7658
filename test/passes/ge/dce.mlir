// RUN: gecc-opt %s -p ge-dce | filecheck %s

// A whole chain goes in one run.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    func.return %x
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Log(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Add(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// What reaches an output stays, and unused arguments stay.
// CHECK-LABEL: func.func @used(%x: tensor<4xf32>, %unused: tensor<4xf32>)
// CHECK-NEXT:    %[[E:.*]] = ge.Exp(%x)
// CHECK-NEXT:    %[[R:.*]] = ge.Log(%[[E]])
// CHECK-NEXT:    func.return %[[R]]
func.func @used(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Log(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Tanh(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// An operation with effects stays although its result is unused, and so does what it needs.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    %[[E:.*]] = ge.Exp(%x)
// CHECK-NEXT:    func.call @chain(%[[E]])
// CHECK-NEXT:    func.return
func.func @effects(%x: tensor<4xf32>) {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @chain(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// Inside a branch; a branch whose results are unused goes with all it needed.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    %[[R:.*]] = scf.if %p -> (tensor<4xf32>) {
// CHECK-NEXT:      scf.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[T:.*]] = ge.Tanh(%x)
// CHECK-NEXT:      scf.yield %[[T]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func @nested(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  } else {
    %2 = ge.Tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  %3 = ge.Sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = scf.if %p -> (tensor<4xf32>) {
    %5 = ge.Exp(%3) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %5 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
