// RUN: gecc-opt %s -p 'ge-choose-precision{mode=fp16 keep="first","OpType::Exp","secnd","OpType::Softmaxx","OpType::Conv"}' 2>&1 | filecheck %s --check-prefix=KEEP
// RUN: gecc-opt %s -p 'ge-choose-precision{customize="first::InputDtype:float16,OutputDtype:float32","OpType::Exp:InputDtype:bf16,OutputDtype:bf16" keep="first"}' 2>&1 | filecheck %s --check-prefix=CUSTOM
// RUN: gecc-opt %s -p 'ge-choose-precision{mode=mixed_float16 black=MatMul white=Exp,Relux grey=Neg}' 2>&1 | filecheck %s --check-prefix=LISTS
// RUN: gecc-opt %s -p 'ge-choose-precision{mode=mixed_float16 white=MatMul black=Gemm}' 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: gecc-opt %s -p 'ge-choose-precision{mode=fp16 black=Exp}' 2>&1 | filecheck %s --check-prefix=NOLISTS
// RUN: gecc-opt %s -p 'ge-choose-precision{mode=fp16 clip=false}' 2>&1 | filecheck %s --check-prefix=INF
// RUN: gecc-opt %s -p 'ge-choose-precision{customize="first::InputDtype:float16,float16,float16"}' --verify-diagnostics | filecheck %s --check-prefix=TOOMANY

// KEEP: 1 kept: kept by name, 'first' (1 MatMulV2)
// KEEP: 1 kept: kept by operator, OpType::Exp (1 Exp)
// KEEP-DAG: no operator is called 'Softmaxx'; near: Softmax, SoftmaxV2
// KEEP-DAG: 'OpType::Conv' matches no operation on floats; there are MatMulV2, Exp, Relu
// KEEP-DAG: 'secnd' matches no operation on floats (a constant is none); near: second
// KEEP: ge.MatMulV2({{.*}}) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// KEEP: ge.Exp({{.*}}) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// KEEP: ge.Relu({{.*}}) : (tensor<2x2xf16>) -> tensor<2x2xf16>

// CUSTOM: precision origin: 2 operations changed, 1 kept
// CUSTOM-DAG: 1 f32 to f16, results of f32: customised by 'first'
// CUSTOM-DAG: 1 f32 to bf16: customised by 'OpType::Exp'
// CUSTOM: ge.MatMulV2({{.*}}) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
// CUSTOM: %e = ge.Exp({{.*}}) : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
// CUSTOM: %z = ge.Relu({{.*}}) : (tensor<2x2xf32>) -> tensor<2x2xf32>

// LISTS: 1 f32 to f16: put on the white list as 'Exp'
// LISTS: 1 f32 to f16: grey list: as what comes before it
// LISTS: 1 kept: put on the black list as 'MatMul' (1 MatMulV2)
// LISTS: no operator is called 'Relux'; near: {{.*}}Relu
// LISTS: ge.MatMulV2({{.*}}) -> tensor<2x2xf32>
// LISTS: ge.Exp({{.*}}) -> tensor<2x2xf16>
// LISTS: ge.Relu({{.*}}) -> tensor<2x2xf16>

// BOTH: 1 kept: put on the black list as 'Gemm' (1 MatMulV2)
// BOTH: MatMulV2 is put on the white list and on the black list, which counts

// NOLISTS: mode fp16 has no lists; what was put on them has no effect

// INF: 4 elements of 1 constants were outside the range of f16 and were made infinite: 'first'
// INF: ge.Const dense<"0x007C007C007C007C"> : tensor<2x2xf16>

// TOOMANY: error: 'first' says 3 element types of inputs, MatMulV2 has 2 inputs
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = ge.Const dense<1.0e6> : tensor<2x2xf32> loc("first")
  %y = ge.MatMulV2(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("first")
  %e = ge.Exp(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("second")
  %z = ge.Relu(%e) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("third")
  func.return %z : tensor<2x2xf32> loc("graph")
} loc("graph")
