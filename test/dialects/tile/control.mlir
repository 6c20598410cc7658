// RUN: gecc-opt %s | gecc-opt | filecheck %s

// CHECK-LABEL: func.func @tensors
// CHECK:         tile.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%h: tensor<4xf32>):
// CHECK-NEXT:      %b = tile.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:        tile.yield %x : tensor<4xf32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        tile.yield %h : tensor<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.yield %c, %b : tensor<i1>, tensor<4xf32>
func.func @tensors(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = tile.while %c : tensor<i1> init(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%h: tensor<4xf32>):
    %b = tile.if %c : tensor<i1> -> tensor<4xf32> {
      tile.yield %x : tensor<4xf32>
    } else {
      tile.yield %h : tensor<4xf32>
    }
    tile.yield %c, %b : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @memory
// CHECK:         tile.label 0{{$}}
// CHECK-NEXT:    tile.switch %c [1, 0] phase 3 : memref<i1>
// CHECK-NEXT:    tile.goto 0 phase 4
// CHECK-NEXT:    tile.label 1 phase 5
func.func @memory() {
  %c = tile.input 0 : memref<i1>
  tile.label 0
  tile.switch %c [1, 0] phase 3 : memref<i1>
  tile.goto 0 phase 4
  tile.label 1 phase 5
  func.return
}
