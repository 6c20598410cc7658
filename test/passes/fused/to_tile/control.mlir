// RUN: gecc-opt %s -p fused-to-tile | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         tile.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%h: tensor<4xf32>):
// CHECK-NEXT:      %b = tile.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:        %e = tile.launch @Exp "Exp" ins(%h : tensor<4xf32>)
// CHECK-NEXT:        tile.yield %e : tensor<4xf32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        tile.yield %x : tensor<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.yield %c, %b : tensor<i1>, tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = fused.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%h: tensor<4xf32>):
    %b = fused.if %c : tensor<i1> -> tensor<4xf32> {
      %e = fused.generic "Exp"(%h) : (tensor<4xf32>) -> tensor<4xf32> body(%i: index, %t: tensor<4xf32>) {
        %v = fused.load %t[%i] : tensor<4xf32>
        %r = math.exp %v : f32
        fused.yield %r : f32
      }
      fused.yield %e : tensor<4xf32>
    } else {
      fused.yield %x : tensor<4xf32>
    }
    fused.yield %c, %b : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
