// RUN: gecc-opt %s --split-input-file -p ge-infer-shapes --verify-diagnostics | filecheck %s

// Types go into regions and out of them; the number of rows follows once the trip count does.
// CHECK-LABEL: func.func @through
// CHECK:         ge.While(%{{.*}}, none, %x) : (tensor<i64>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x6x4xf32>)
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %h: tensor<6x4xf32>):
// CHECK-NEXT:      ge.Exp(%h) : (tensor<6x4xf32>) -> tensor<6x4xf32>
func.func @through(%x: tensor<6x4xf32>) -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
  %s = ge.Shape(%x) end 1 : (tensor<6x4xf32>) -> tensor<1xi64>
  %n = ge.Reshape(%s) : (tensor<1xi64>) -> tensor<i64>
  %t = ge.Const dense<true> : tensor<i1>
  %y, %all = ge.While(%n, none, %x) : (tensor<i64>, tensor<6x4xf32>) -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<?x4xf32>):
    %e = ge.Exp(%h) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ge.Yield %t, %e, %e : tensor<i1>, tensor<?x4xf32>, tensor<?x4xf32>
  }
  func.return %y, %all : tensor<?x4xf32>, tensor<?x?x4xf32>
}

// -----

// A condition that follows from shapes leaves one branch; the other may contradict.
// CHECK-LABEL: func.func @decided
// CHECK-NEXT:    %a = ge.Exp(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    func.return %a
func.func @decided(%x: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %s = ge.Shape(%x) end 1 : (tensor<6x4xf32>) -> tensor<1xi64>
  %six = ge.Const dense<6> : tensor<1xi64>
  %c = ge.Equal(%s, %six) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %y = ge.If(%c) : (tensor<1xi1>) -> tensor<?x4xf32> {
    %a = ge.Exp(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    ge.Yield %a : tensor<6x4xf32>
  } {
    %b = ge.Concat(%x, %x) axis 0 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<12x4xf32>
    ge.Yield %b : tensor<12x4xf32>
  }
  func.return %y : tensor<?x4xf32>
}

// -----

// What no iteration changes in a loop that carries numbers is not known all the same.
// CHECK-LABEL: func.func @numbers
// CHECK:         ge.Add(%k, %one)
func.func @numbers(%n: tensor<i64>, %t: tensor<i1>) -> tensor<i64> {
  %zero = ge.Const dense<0> : tensor<i64>
  %one = ge.Const dense<1> : tensor<i64>
  %y = ge.While(%n, none, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %k: tensor<i64>):
    %m = ge.Add(%k, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    ge.Yield %t, %m : tensor<i1>, tensor<i64>
  }
  func.return %y : tensor<i64>
}

// -----

// CHECK: carried value 0 of a loop begins as tensor<6x4xf32> and becomes tensor<12x4xf32>: dimension 0 is 12, not 6
func.func @grows(%x: tensor<6x4xf32>, %n: tensor<i64>, %t: tensor<i1>) -> tensor<?x4xf32> {
  %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<6x4xf32>) -> tensor<?x4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<?x4xf32>):
    %d = ge.Concat(%h, %h) axis 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    ge.Yield %t, %d : tensor<i1>, tensor<?x4xf32>
  }
  func.return %y : tensor<?x4xf32>
}

// -----

// CHECK: element 0 of operand 'shape' depends on data, {{.*}} goes back to the number of the iteration of a loop
func.func @shape_from_number(%x: tensor<6xf32>, %n: tensor<i64>, %t: tensor<i1>) -> tensor<6xf32> {
  %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<6xf32>) -> tensor<6xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<6xf32>):
    %s = ge.Reshape(%i) : (tensor<i64>) -> tensor<1xi64>
    %d = ge.ConstantOfShape(%s) : (tensor<1xi64>) -> tensor<?xf32>
    %m = ge.ReduceSum(%d) axes [0] : (tensor<?xf32>) -> tensor<f32>
    %a = ge.Add(%h, %m) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    ge.Yield %t, %a : tensor<i1>, tensor<6xf32>
  }
  func.return %y : tensor<6xf32>
}
