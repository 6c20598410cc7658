// RUN: gecc-opt %s -p 'ge-set-io-types{inputs="x:FP16" outputs="y:UINT8"}' | filecheck %s
// RUN: gecc-opt %s -p 'ge-set-io-types{outputs=FP16}' | filecheck %s --check-prefix=ALL
// RUN: gecc-opt %s -p 'ge-set-io-types{inputs="x:FP32" outputs="y:float32","i:INT64"}' | filecheck %s --check-prefix=SAME
// RUN: gecc-opt %s -p 'ge-set-io-types{inputs="z:FP16"}' --verify-diagnostics | filecheck %s --check-prefix=NAME
// RUN: gecc-opt %s -p 'ge-set-io-types{outputs="y:FP8"}' --verify-diagnostics | filecheck %s --check-prefix=TYPE
// RUN: gecc-opt %s -p 'ge-set-io-types{outputs="y","i"}' --verify-diagnostics | filecheck %s --check-prefix=NOTYPE
// RUN: gecc-opt %s -p 'ge-set-io-types{outputs="y:FP16","y:FP32"}' --verify-diagnostics | filecheck %s --check-prefix=TWICE

// Small integers saturate, and a NaN becomes 0.
// CHECK-LABEL: func.func @main
// CHECK-SAME:      (%x: tensor<4xf16>) -> (tensor<4xui8>, tensor<4xi64>)
// CHECK-NEXT:      %[[X:.*]] = ge.Cast(%x) : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT:      %y = ge.Relu(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %i = ge.Cast(%[[X]]) : (tensor<4xf32>) -> tensor<4xi64>
// CHECK-NEXT:      %[[LOW:.*]] = ge.Const dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:      %[[HIGH:.*]] = ge.Const dense<2.550000e+02> : tensor<f32>
// CHECK-NEXT:      %[[ZERO:.*]] = ge.Const dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:      %[[N:.*]] = ge.Equal(%y, %y)
// CHECK-NEXT:      %[[S:.*]] = ge.Select(%[[N]], %y, %[[ZERO]])
// CHECK-NEXT:      %[[C:.*]] = ge.ClipByValue(%[[S]], %[[LOW]], %[[HIGH]])
// CHECK-NEXT:      %[[R:.*]] = ge.Cast(%[[C]]) : (tensor<4xf32>) -> tensor<4xui8>
// CHECK-NEXT:      func.return %[[R]], %i : tensor<4xui8>, tensor<4xi64>

// One type for all outputs, integers too.
// ALL-LABEL: func.func @main
// ALL-SAME:      (%x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>)
// ALL:           %[[Y:.*]] = ge.Cast(%y) : (tensor<4xf32>) -> tensor<4xf16>
// ALL-NEXT:      %[[I:.*]] = ge.Cast(%i) : (tensor<4xi64>) -> tensor<4xf16>
// ALL-NEXT:      func.return %[[Y]], %[[I]]

// Near miss: the types that they have.
// SAME-LABEL: func.func @main
// SAME-NEXT:      %y = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// SAME-NEXT:      %i = ge.Cast(%x)
// SAME-NEXT:      func.return %y, %i

// NAME: error: E10016: no input is called 'z'
// NAME: hint: the inputs are x
// TYPE: error: E10001: 'FP8' in 'y:FP8' is no element type that can be chosen
// NOTYPE: error: 'y' gives no element type to an output
// NOTYPE: hint: expected y:FP16
// TWICE: error: output 'y' is given an element type twice
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>) attributes {ge.input_names = ["x"], ge.output_names = ["y", "i"]} {
  %y = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = ge.Cast(%x) : (tensor<4xf32>) -> tensor<4xi64>
  func.return %y, %i : tensor<4xf32>, tensor<4xi64>
}
