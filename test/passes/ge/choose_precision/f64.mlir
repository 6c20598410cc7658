// RUN: gecc-opt %s -p 'ge-choose-precision{customize="n::InputDtype:float16","OpType::Relu:OutputDtype:float16"}' 2>&1 | filecheck %s
// RUN: gecc-opt %s -p ge-choose-precision{mode=fp16} 2>&1 | filecheck %s --check-prefix=MODE

// Near miss: f64 is changed neither by name nor by mode.
// CHECK: precision origin: 0 operations changed, 2 kept
// CHECK-NEXT: 2 kept: f64 is what the model asks for (1 Exp, 1 Relu)
// CHECK-NEXT: 'n': Exp computes in f64, which is never changed
// CHECK-NEXT: 'OpType::Relu': Relu computes in f64, which is never changed
// MODE: precision fp16: 0 operations changed, 2 kept
// CHECK-NOT: f16
// MODE-NOT: f16
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = ge.Exp(%x) : (tensor<2xf64>) -> tensor<2xf64> loc("n")
  %z = ge.Relu(%y) : (tensor<2xf64>) -> tensor<2xf64>
  func.return %z : tensor<2xf64>
}
