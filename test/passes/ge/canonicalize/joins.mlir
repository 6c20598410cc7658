// RUN: gecc-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @flatten
// CHECK-NEXT:    %[[R:.*]] = ge.Concat(%x, %y, %x, %y) axis 1
// CHECK-NEXT:    func.return %[[R]]
func.func @flatten(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x8xf32> {
  %0 = ge.Concat(%x, %y) axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = ge.Concat(%0, %x, %y) axis -1 : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  func.return %1 : tensor<2x8xf32>
}

// Along another axis; with another use of the inner one.
// CHECK-LABEL: func.func @flatten_near_misses
// CHECK-COUNT-4: ge.Concat
// CHECK-NEXT:    func.return
func.func @flatten_near_misses(%x: tensor<2x3xf32>) -> (tensor<4x6xf32>, tensor<6x3xf32>, tensor<4x3xf32>) {
  %0 = ge.Concat(%x, %x) axis 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = ge.Concat(%0, %0) axis 1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  %2 = ge.Concat(%x, %x) axis 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = ge.Concat(%2, %x) axis 0 : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  func.return %1, %3, %2 : tensor<4x6xf32>, tensor<6x3xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @empty_operands
// CHECK-NEXT:    func.return %x
func.func @empty_operands(%x: tensor<2x3xf32>, %e: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = ge.Concat(%e, %x, %e) axis 0 : (tensor<0x3xf32>, tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// Nothing but empty operands, or empty along another axis than that of the Concat.
// CHECK-LABEL: func.func @empty_near_misses
// CHECK-NEXT:    ge.Concat(%e, %e) axis 0
// CHECK-NEXT:    ge.Concat(%e, %e) axis 1
func.func @empty_near_misses(%e: tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<0x6xf32>) {
  %0 = ge.Concat(%e, %e) axis 0 : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %1 = ge.Concat(%e, %e) axis 1 : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x6xf32>
  func.return %0, %1 : tensor<0x3xf32>, tensor<0x6xf32>
}

// CHECK-LABEL: func.func @concat_of_split
// CHECK-NEXT:    func.return %x
func.func @concat_of_split(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0, %1 = ge.Split(%x) axis 1 sizes [1, 3] : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x3xf32>)
  %2 = ge.Concat(%0, %1) axis -1 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}

// Other order, a part missing, other axis.
// CHECK-LABEL: func.func @concat_of_split_near_misses
// CHECK-NEXT:    %[[S:.*]], %[[T:.*]] = ge.Split(%x)
// CHECK-NEXT:    ge.Concat(%[[T]], %[[S]])
// CHECK-NEXT:    ge.Concat(%[[S]], %x)
// CHECK-NEXT:    ge.Concat(%[[S]], %[[T]]) axis 0
func.func @concat_of_split_near_misses(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x6xf32>, tensor<4x2xf32>) {
  %0, %1 = ge.Split(%x) axis 1 sizes [2, 2] : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %2 = ge.Concat(%1, %0) axis 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %3 = ge.Concat(%0, %x) axis 1 : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  %4 = ge.Concat(%0, %1) axis 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  func.return %2, %3, %4 : tensor<2x4xf32>, tensor<2x6xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @split_of_concat
// CHECK-NEXT:    func.return %y, %x
func.func @split_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x3xf32>) {
  %0 = ge.Concat(%x, %y) axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1, %2 = ge.Split(%0) axis 1 sizes [3, 1] : (tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  func.return %2, %1 : tensor<2x1xf32>, tensor<2x3xf32>
}

// Cut elsewhere, and along another axis where the parts look alike.
// CHECK-LABEL: func.func @split_of_concat_near_misses
// CHECK-COUNT-2: ge.Concat
// CHECK:         func.return
func.func @split_of_concat_near_misses(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %z: tensor<1x2xf32>) -> (tensor<2x1xf32>, tensor<1x4xf32>) {
  %0 = ge.Concat(%x, %y) axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1, %2 = ge.Split(%0) axis 1 sizes [1, 3] : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x3xf32>)
  %3, %4 = ge.Split(%0) axis 0 sizes [1, 1] : (tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  %5 = ge.Concat(%z, %z) axis 1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %6 = ge.Add(%3, %5) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %1, %6 : tensor<2x1xf32>, tensor<1x4xf32>
}
