// RUN: gecc-opt %s -p ge-canonicalize --disable DropIdentity | filecheck %s --check-prefix=RULE
// RUN: gecc-opt %s -p ge-canonicalize --disable CancelInvolutions:ge.Neg | filecheck %s --check-prefix=ONE
// RUN: gecc-opt %s -p ge-canonicalize --disable CancelInvolutions:ge.LogicalNot | filecheck %s
// RUN: gecc-opt %s -p ge-canonicalize,ge-dce --disable ge-canonicalize | filecheck %s --check-prefix=PASS
// RUN: gecc-opt %s -p ge-canonicalize | filecheck %s
// RUN: not gecc-opt %s --disable NoSuchRule 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not gecc-opt %s -p ge-canonicalize --disable CancelInvolutions:ge.Nag 2>&1 | filecheck %s --check-prefix=OPERATION
// RUN: gecc-opt -O1 --stage ge --disable ge-cse --disable ge-canonicalize --print-pipeline | filecheck %s --check-prefix=PIPELINE
// RUN: gecc-opt -p ge-cse,ge-dce --disable ge-cse --print-pipeline | filecheck %s --check-prefix=GIVEN

// RULE:      ge.Identity
// RULE-NEXT: func.return
// ONE-NOT:   ge.Identity
// ONE:       ge.Neg
// ONE-NEXT:  ge.Neg
// PASS:      ge.Identity
// PASS-NEXT: ge.Neg
// PASS-NEXT: ge.Neg
// UNKNOWN:   gecc-opt: error: --disable: no pass and no rule is called 'NoSuchRule'
// OPERATION: gecc-opt: error: --disable: CancelInvolutions does nothing to 'ge.Nag'
// OPERATION-NEXT: hint: it starts from ge.{{.*}}ge.LogicalNot
// PIPELINE:     ge-fold-constants
// PIPELINE-NOT: {{ge-cse|ge-canonicalize}}
// GIVEN:     ge-dce

// The rule is on again in the next run.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    func.return %x
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ge.Identity(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Neg(%1) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
