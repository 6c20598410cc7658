// A script written for atc runs with the command's name changed.

// RUN: mkdir -p %t && cd %t
// RUN: gecc-translate --mode=0 --framework=5 --model=%S/../digits/digits.onnx --output=%t/digits --soc_version=Ascend310P3 --input_shape="image:1,1,8,8" --core_type=AiCore 2>&1 | filecheck %s
// RUN: gecc-translate --mode=6 --om=%t/digits.om | filecheck %s --check-prefix=INFO
// RUN: not gecc-translate --framework=5 --model=%S/../digits/digits.onnx --output=%t/digits --input_shape="imag:1,1,8,8" 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not gecc-translate --modle=net.onnx --framework=5 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: gecc-translate --help | filecheck %s --check-prefix=HELP

// CHECK:      gecc-translate: warning: --core_type is ignored: the om is for a CPU
// CHECK-NEXT: note: --soc_version=Ascend310P3: the om is for a CPU, not for this chip
// CHECK:      digits.om: om for

// INFO:  model: {{ +}}digits
// INFO:  input: {{ +}}image f32[1, 1, 8, 8]

// NAME:      gecc-translate: error: E10001: --input_shape names 'imag', which is no input of '{{.*}}digits.onnx'
// NAME-NEXT:   hint: its inputs are 'image' [batch, 1, 8, 8]; did you mean 'image'?

// FLAG:      gecc-translate: error: unknown flag '--modle'
// FLAG-NEXT:   hint: did you mean --mode?

// HELP:      atc's flags: a command line written for atc runs as it is
// HELP-NEXT:  model in and out:
// HELP-NEXT:   --mode=0|1|3|5|6
// HELP:       ignored, with a line that says why:
// HELP:       refused:
