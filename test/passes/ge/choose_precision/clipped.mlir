// RUN: gecc-opt %s -p ge-choose-precision{mode=cube_fp16in_fp32out} 2>&1 | filecheck %s

// What is said to be clipped is in what is made: the weight of an operation that has no form in f16 is not.
// CHECK: 1 operations changed, 1 kept
// CHECK: 1 kept: it has no form in f16: {{.*}} (1 ConvTranspose2D)
// CHECK: 1 elements of 1 constants were outside the range of f16 and were clipped to it: 'one'
// CHECK-LABEL: func.func @main
// CHECK: ge.Const dense<6.550400e+04> : tensor<1x1x1x1xf16>
// CHECK: ge.Const dense<2.000000e+06> : tensor<1x1x1x1xf32>
// CHECK: ge.ConvTranspose2D({{.*}}) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
func.func @main(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %v = ge.Const dense<1.0e6> : tensor<1x1x1x1xf32> loc("one")
  %w = ge.Const dense<2.0e6> : tensor<1x1x1x1xf32> loc("two")
  %y = ge.Conv2D(%x, %v) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = ge.ConvTranspose2D(%y, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  func.return %z : tensor<1x1x2x2xf32>
}
