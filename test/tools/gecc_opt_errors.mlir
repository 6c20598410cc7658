// RUN: not gecc-opt %s -p ge-no-such-pass 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not gecc-opt %s -p ge-csee 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not gecc-opt %s --no-such-flag 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not gecc-opt %s --stage ge 2>&1 | filecheck %s --check-prefix=STAGE
// RUN: not gecc-opt %s -O1 -p ge-cse 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not gecc-opt %s -p ge-cse{limit=1} 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not gecc-opt %s.missing 2>&1 | filecheck %s --check-prefix=FILE

// PASS:   gecc-opt: error: unknown pass 'ge-no-such-pass'
// NEAR:   gecc-opt: error: unknown pass 'ge-csee'
// NEAR:   hint: did you mean 'ge-cse'?
// FLAG:   gecc-opt: error: unrecognized arguments: --no-such-flag
// STAGE:  gecc-opt: error: --stage needs an optimisation level
// BOTH:   gecc-opt: error: -O and -p exclude each other
// OPTION: gecc-opt: error: pass 'ge-cse': Provided arguments ["limit"] not found
// FILE:   gecc-opt: error: cannot read '{{.*}}.missing': No such file or directory
func.func @main() {
  func.return
}
