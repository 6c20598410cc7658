// RUN: gecc-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @to_the_right
// CHECK-NEXT:    %[[C:.*]] = ge.Const
// CHECK-NEXT:    %[[A:.*]] = ge.Add(%x, %[[C]])
// CHECK-NEXT:    %[[M:.*]] = ge.Mul(%[[A]], %[[C]])
// CHECK-NEXT:    ge.Maximum(%[[M]], %[[C]])
func.func @to_the_right(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<3.0> : tensor<f32>
  %0 = ge.Add(%c, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Mul(%c, %0) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Maximum(%c, %1) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// What does not commute stays, and so do two constants.
// CHECK-LABEL: func.func @stays_left
// CHECK-NEXT:    %[[C:.*]] = ge.Const dense<3.0{{.*}}>
// CHECK-NEXT:    %[[D:.*]] = ge.Const dense<5.0{{.*}}>
// CHECK-NEXT:    %[[S:.*]] = ge.Sub(%[[C]], %x)
// CHECK-NEXT:    %[[P:.*]] = ge.Pow(%[[C]], %[[S]])
// CHECK-NEXT:    %[[A:.*]] = ge.Add(%[[C]], %[[D]])
// CHECK-NEXT:    ge.Sub(%[[A]], %[[P]])
func.func @stays_left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<3.0> : tensor<f32>
  %d = ge.Const dense<5.0> : tensor<f32>
  %0 = ge.Sub(%c, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Pow(%c, %0) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Add(%c, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = ge.Sub(%2, %1) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT:    func.return %x, %i
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zero = ge.Const dense<0.0> : tensor<f32>
  %one = ge.Const dense<1.0> : tensor<1xf32>
  %ones = ge.Const dense<1> : tensor<4xi64>
  %0 = ge.Add(%zero, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Sub(%0, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = ge.Mul(%1, %one) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = ge.RealDiv(%2, %one) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %4 = ge.Pow(%3, %one) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %5 = ge.Mul(%i, %ones) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  func.return %4, %5 : tensor<4xf32>, tensor<4xi64>
}

// The constant broadcasts, is not all neutral, or is neutral for another operator; 0 * x may be NaN.
// CHECK-LABEL: func.func @not_neutral
// CHECK:         ge.Mul(%x, %{{.*}}) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    ge.Mul(%x
// CHECK-NEXT:    ge.Add(%x
// CHECK-NEXT:    ge.Mul(%x
// CHECK-NEXT:    ge.RealDiv(%{{.*}}, %x)
func.func @not_neutral(%x: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %wide = ge.Const dense<1.0> : tensor<2x4xf32>
  %most = ge.Const dense<[1.0, 1.0, 1.0, 3.0]> : tensor<4xf32>
  %one = ge.Const dense<1.0> : tensor<f32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %0 = ge.Mul(%x, %wide) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = ge.Mul(%x, %most) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Add(%x, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = ge.Mul(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = ge.RealDiv(%one, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2, %3, %4 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A scalar that the constant broadcasts keeps its operator.
// CHECK-LABEL: func.func @neutral_broadcasts_scalar
// CHECK:         ge.Add(%x, %{{.*}}) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
func.func @neutral_broadcasts_scalar(%x: tensor<f32>) -> tensor<4xf32> {
  %zeros = ge.Const dense<0.0> : tensor<4xf32>
  %0 = ge.Add(%x, %zeros) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @minus_one
// CHECK-NEXT:    %[[N:.*]] = ge.Neg(%x)
// CHECK-NEXT:    func.return %[[N]]
func.func @minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<-1.0> : tensor<f32>
  %0 = ge.Mul(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Unsigned integers have no Neg; a broadcast cannot be dropped.
// CHECK-LABEL: func.func @minus_one_near_misses
// CHECK-COUNT-2: ge.Mul
// CHECK-NEXT:    func.return
func.func @minus_one_near_misses(%u: tensor<4xui8>, %x: tensor<f32>) -> (tensor<4xui8>, tensor<4xf32>) {
  %c = ge.Const dense<255> : tensor<ui8>
  %d = ge.Const dense<-1.0> : tensor<4xf32>
  %0 = ge.Mul(%u, %c) : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
  %1 = ge.Mul(%x, %d) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xui8>, tensor<4xf32>
}

// CHECK-LABEL: func.func @sub
// CHECK-DAG:     %[[F:.*]] = ge.Const dense<[-1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32>
// CHECK-DAG:     %[[I:.*]] = ge.Const dense<-7> : tensor<i32>
// CHECK-DAG:     ge.Add(%x, %[[F]])
// CHECK-DAG:     ge.Add(%i, %[[I]])
// CHECK:         func.return
func.func @sub(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %c = ge.Const dense<[1.0, -2.0]> : tensor<2xf32>
  %d = ge.Const dense<7> : tensor<i32>
  %0 = ge.Sub(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = ge.Sub(%i, %d) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @div
// CHECK-DAG:     %[[C:.*]] = ge.Const dense<[1.25{{0*}}e-01, -2.0{{.*}}]> : tensor<2xf32>
// CHECK-DAG:     ge.Mul(%x, %[[C]])
// CHECK:         func.return
func.func @div(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = ge.Const dense<[8.0, -0.5]> : tensor<2xf32>
  %0 = ge.RealDiv(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// Multiplying by 1/3 rounds twice, by 1/0 is not dividing by 0, 2^-15 is no normal number in f16, and
// integers truncate.
// CHECK-LABEL: func.func @div_near_misses
// CHECK-COUNT-4: ge.RealDiv
// CHECK-NEXT:    func.return
func.func @div_near_misses(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  %c = ge.Const dense<[8.0, 3.0]> : tensor<2xf32>
  %zero = ge.Const dense<0.0> : tensor<f32>
  %far = ge.Const dense<32768.0> : tensor<f32>
  %four = ge.Const dense<4> : tensor<i32>
  %0 = ge.RealDiv(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = ge.RealDiv(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = ge.RealDiv(%x, %far) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = ge.RealDiv(%i, %four) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  func.return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @square
// CHECK-NEXT:    %[[S:.*]] = ge.Mul(%x, %x)
// CHECK-NEXT:    func.return %[[S]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<2.0> : tensor<f32>
  %0 = ge.Pow(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// A root differs at -0 and minus infinity; 2 to the x is no square; a broadcast cannot be dropped.
// CHECK-LABEL: func.func @square_near_misses
// CHECK-COUNT-3: ge.Pow
// CHECK-NEXT:    func.return
func.func @square_near_misses(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>) {
  %half = ge.Const dense<0.5> : tensor<f32>
  %two = ge.Const dense<2.0> : tensor<f32>
  %twos = ge.Const dense<2.0> : tensor<4xf32>
  %0 = ge.Pow(%x, %half) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = ge.Pow(%two, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = ge.Pow(%x, %twos) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<4xf32>
}

// Also where the sum overflows.
// CHECK-LABEL: func.func @integer_constants
// CHECK-DAG:     %[[S:.*]] = ge.Const dense<12> : tensor<i64>
// CHECK-DAG:     %[[W:.*]] = ge.Const dense<-56> : tensor<i8>
// CHECK-DAG:     %[[P:.*]] = ge.Const dense<[6, 9]> : tensor<2xi64>
// CHECK-DAG:     ge.Add(%x, %[[S]])
// CHECK-DAG:     ge.Add(%b, %[[W]])
// CHECK-DAG:     ge.Mul(%x, %[[P]])
// CHECK:         func.return
func.func @integer_constants(%x: tensor<2xi64>, %b: tensor<2xi8>) -> (tensor<2xi64>, tensor<2xi8>, tensor<2xi64>) {
  %five = ge.Const dense<5> : tensor<i64>
  %less = ge.Const dense<-7> : tensor<i64>
  %hundred = ge.Const dense<100> : tensor<i8>
  %pair = ge.Const dense<[2, 3]> : tensor<2xi64>
  %three = ge.Const dense<3> : tensor<i64>
  %0 = ge.Add(%x, %five) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %1 = ge.Sub(%0, %less) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %2 = ge.Add(%b, %hundred) : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %3 = ge.Add(%hundred, %2) : (tensor<i8>, tensor<2xi8>) -> tensor<2xi8>
  %4 = ge.Mul(%x, %pair) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %5 = ge.Mul(%4, %three) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  func.return %1, %3, %5 : tensor<2xi64>, tensor<2xi8>, tensor<2xi64>
}

// Floating-point sums are not associative, + does not merge with *, and the merged constant may not grow.
// CHECK-LABEL: func.func @constants_near_misses
// CHECK:         ge.Add(%x
// CHECK-NEXT:    ge.Add
// CHECK-NEXT:    ge.Add(%i
// CHECK-NEXT:    ge.Mul
// CHECK-NEXT:    ge.Mul(%i
// CHECK-NEXT:    ge.Mul
// CHECK-NEXT:    func.return
func.func @constants_near_misses(%x: tensor<2xf32>, %i: tensor<2x1xi64>) -> (tensor<2xf32>, tensor<2x1xi64>, tensor<2x3xi64>) {
  %third = ge.Const dense<0.3> : tensor<f32>
  %three = ge.Const dense<3> : tensor<i64>
  %column = ge.Const dense<[[2], [3]]> : tensor<2x1xi64>
  %row = ge.Const dense<[2, 3, 4]> : tensor<3xi64>
  %0 = ge.Add(%x, %third) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = ge.Add(%0, %third) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = ge.Add(%i, %three) : (tensor<2x1xi64>, tensor<i64>) -> tensor<2x1xi64>
  %3 = ge.Mul(%2, %three) : (tensor<2x1xi64>, tensor<i64>) -> tensor<2x1xi64>
  %4 = ge.Mul(%i, %column) : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi64>
  %5 = ge.Mul(%4, %row) : (tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x3xi64>
  func.return %1, %3, %5 : tensor<2xf32>, tensor<2x1xi64>, tensor<2x3xi64>
}
