// RUN: gecc-opt %s -p ge-choose-layouts | filecheck %s

// What a region takes from outside, gets and yields is row-major; within it layouts are chosen as elsewhere.
// CHECK-LABEL: func.func @borders
// CHECK:         %a = ge.Conv2D({{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:    %[[A:.*]] = ge.TransData(%a)
// CHECK-NEXT:    ge.While(%n, none, %[[A]])
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %h: tensor<1x4x8x8xf32>):
// CHECK-NEXT:      %[[H:.*]] = ge.TransData(%h)
// CHECK-NEXT:      %[[B:.*]] = ge.TransData(%[[A]])
// CHECK-NEXT:      %s = ge.Add(%[[H]], %[[B]]) {{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      %d = ge.Conv2D(%s, %{{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      %e = ge.Relu(%d) {{.*}} -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
// CHECK-NEXT:      %[[E:.*]] = ge.TransData(%e)
// CHECK-NEXT:      ge.Yield %t, %[[E]]
func.func @borders(%x: tensor<1x3x8x8xf32>, %v: tensor<4x3x1x1xf32>, %w: tensor<4x4x1x1xf32>, %n: tensor<i64>, %t: tensor<i1>) -> tensor<1x4x8x8xf32> {
  %a = ge.Conv2D(%x, %v) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %y = ge.While(%n, none, %a) : (tensor<i64>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<1x4x8x8xf32>):
    %s = ge.Add(%h, %a) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %d = ge.Conv2D(%s, %w) : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    %e = ge.Relu(%d) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    ge.Yield %t, %e : tensor<i1>, tensor<1x4x8x8xf32>
  }
  func.return %y : tensor<1x4x8x8xf32>
}
