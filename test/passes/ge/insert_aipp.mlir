// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true mean_chn_0: 104 var_reci_chn_1: 0.5 min_chn_2: -2 }"}' | filecheck %s --check-prefix=RGB
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 }" input_format=NHWC}' --verify-diagnostics | filecheck %s --check-prefix=NHWC
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: YUV420SP_U8 src_image_size_h: 6 src_image_size_w: 8 crop: true load_start_pos_h: 2 load_start_pos_w: 4 crop_size_h: 3 crop_size_w: 2 csc_switch: true padding: true top_padding_size: 1 left_padding_size: 3 right_padding_size: 1 }"}' | filecheck %s --check-prefix=YUV
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 } aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_name: \"image\" }"}' --verify-diagnostics | filecheck %s --check-prefix=TWICE
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_name: \"imag\" }"}' --verify-diagnostics | filecheck %s --check-prefix=NAME
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_rank: 1 }"}' --verify-diagnostics | filecheck %s --check-prefix=KIND
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_rank: 2 }"}' --verify-diagnostics | filecheck %s --check-prefix=RANK
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: YUV400_U8 }"}' --verify-diagnostics | filecheck %s --check-prefix=CHANNELS
// RUN: gecc-opt %s -p 'ge-insert-aipp{text="aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_h: 6 src_image_size_w: 6 }"}' --verify-diagnostics | filecheck %s --check-prefix=SIZE
// RUN: gecc-opt %s -p ge-insert-aipp --verify-diagnostics | filecheck %s --check-prefix=NOTHING

// Channels side by side: one Gather for the swap, one Transpose; what is neutral for all channels is left out.
// RGB-LABEL: func.func @main
// RGB-SAME:      (%image: tensor<2x4x6x3xui8>, %n: tensor<2xi64>) -> tensor<2x3x4x6xf32>
// RGB-SAME:      ge.input_dims = [["2", "4", "6", "3"], ["2"]]
// RGB-NEXT:      %[[I:.*]] = ge.Const dense<[2, 1, 0]> : tensor<3xi64>
// RGB-NEXT:      %[[G:.*]] = ge.Gather(%image, %[[I]]) axis 3 : (tensor<2x4x6x3xui8>, tensor<3xi64>) -> tensor<2x4x6x3xui8>
// RGB-NEXT:      %[[T:.*]] = ge.Transpose(%[[G]]) perm [0, 3, 1, 2] : (tensor<2x4x6x3xui8>) -> tensor<2x3x4x6xui8>
// RGB-NEXT:      %[[C:.*]] = ge.Cast(%[[T]]) : (tensor<2x3x4x6xui8>) -> tensor<2x3x4x6xf32>
// RGB-NEXT:      %[[M:.*]] = ge.Const {{.*}}1.040000e+02{{.*}}0.000000e+00{{.*}}0.000000e+00{{.*}} : tensor<1x3x1x1xf32>
// RGB-NEXT:      %[[S:.*]] = ge.Sub(%[[C]], %[[M]])
// RGB-NEXT:      ge.Const {{.*}}0.000000e+00{{.*}}0.000000e+00{{.*}}-2.000000e+00
// RGB-NEXT:      ge.Sub(%[[S]],
// RGB-NEXT:      ge.Const {{.*}}1.000000e+00{{.*}}5.000000e-01{{.*}}1.000000e+00
// RGB-NEXT:      %[[R:.*]] = ge.Mul(
// RGB-NEXT:      %y = ge.Relu(%[[R]]) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// NHWC: error: E10052: RGB888_U8 makes 3 channels, but input 'image' has 6 (NHWC, [2, 3, 4, 6])
// NHWC-NEXT:   in the configuration, line 1
// NHWC-NEXT:   hint: input_format says where the model has its channels: NCHW or NHWC

// Luma and chroma are cut alike, each chroma spread over its block; then colours, and zeros around.
// YUV-LABEL: func.func @main
// YUV-SAME:      (%image: tensor<2x9x8x1xui8>, %n: tensor<2xi64>)
// YUV:           ge.Slice(%image) starts [0] ends [6] axes [1] steps [1] : (tensor<2x9x8x1xui8>) -> tensor<2x6x8x1xui8>
// YUV:           ge.Slice(%image) starts [6] ends [9] axes [1] steps [1] : (tensor<2x9x8x1xui8>) -> tensor<2x3x8x1xui8>
// YUV:           ge.Expand({{.*}}) : (tensor<2x3x1x4x1xui8>) -> tensor<2x3x2x4x2xui8>
// YUV:           ge.Slice({{.*}}) starts [2, 4] ends [5, 6] axes [2, 3] steps [1, 1] : (tensor<2x1x6x8xui8>) -> tensor<2x1x3x2xui8>
// YUV:           ge.Const dense<516> : tensor<i32>
// YUV:           ge.RealDiv(
// YUV:           ge.Concat({{.*}}) axis 1 : (tensor<2x1x3x2xui8>, tensor<2x1x3x2xui8>, tensor<2x1x3x2xui8>) -> tensor<2x3x3x2xui8>
// YUV-NEXT:      ge.Cast
// YUV-NEXT:      %[[P:.*]] = ge.Pad({{.*}}) pads [0, 0, 1, 3, 0, 0, 0, 1] : (tensor<2x3x3x2xf32>) -> tensor<2x3x4x6xf32>
// YUV-NEXT:      ge.Relu(%[[P]])

// TWICE: error: E10052: two aipp_op are about input 'image'
// NAME: error: E10016: related_input_name is 'imag', but no input is called so
// NAME: hint: did you mean image?
// KIND: error: E10052: input 'n' is tensor<2xi64>, expected floats
// RANK: error: E10052: related_input_rank is 2, but the model has 2 inputs
// CHANNELS: error: E10052: YUV400_U8 makes 1 channels, but input 'image' has 3 (NCHW, [2, 3, 4, 6])
// SIZE: error: E10052: what is left of the picture is 6 x 6 (height x width; 6 x 6 and the padding), but input 'image' is 4 x 6
// NOTHING: error: ge-insert-aipp takes either config, a file, or text
func.func @main(%image: tensor<2x3x4x6xf32>, %n: tensor<2xi64>) -> tensor<2x3x4x6xf32> attributes {ge.input_names = ["image", "n"], ge.input_dims = [["batch", "3", "4", "6"], ["2"]], ge.output_names = ["y"]} {
  %y = ge.Relu(%image) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  func.return %y : tensor<2x3x4x6xf32>
}
