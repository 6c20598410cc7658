// RUN: gecc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'arith.addi' uses operand 1 (%b, i32), result of 'arith.constant', which is defined by a later operation of the same block
func.func @later(%a: i32) {
  %c = arith.addi %a, %b : i32
  %b = arith.constant 1 : i32
  func.return
}

// -----
// CHECK: error: 'arith.addi' uses operand 0 (%c, i32), result of 'arith.addi', which is defined by the operation itself
func.func @itself(%a: i32) {
  %c = arith.addi %c, %a : i32
  func.return
}

// -----
// A value of a nested region is not visible after it; the parser sees that by itself.
// CHECK: values used but not defined: [%b]
func.func @inner(%a: i32, %p: i1) {
  "scf.if"(%p) ({
    %b = arith.constant 1 : i32
    "scf.yield"() : () -> ()
  }, {
    %c = arith.addi %a, %b : i32
    "scf.yield"() : () -> ()
  }) : (i1) -> ()
  func.return
}

// -----
// A block that can be reached without the definition.
// CHECK: error: 'arith.addi' uses operand 1 (%b, i32), result of 'arith.constant', which is defined by an operation that does not dominate it
func.func @branches(%a: i32, %p: i1) {
  cf.cond_br %p, ^one, ^two
^one:
  %b = arith.constant 1 : i32
  cf.br ^two
^two:
  %c = arith.addi %a, %b : i32
  func.return
}

// -----
// What is defined first, outside of a nested region and in a dominating block, is accepted.
// CHECK-LABEL: func.func @fine
func.func @fine(%a: i32, %p: i1) {
  %b = arith.constant 1 : i32
  "scf.if"(%p) ({
    %c = arith.addi %a, %b : i32
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  cf.br ^two
^two:
  %d = arith.addi %a, %b : i32
  func.return
}
