// RUN: gecc-opt %s --split-input-file -p 'tile-to-llvm{target="x86-64-v4" checked=true}' | filecheck %s
// RUN: gecc-opt %s --split-input-file -p 'tile-to-llvm{target="x86-64-v4"}' | filecheck %s --check-prefix PLAIN

// The bytes of the operands stand behind the parameters; before each access its offset is compared with what they hold.
// Accesses assume no alignment, steps of loops are counted, and a violation leaves the kernel.
// CHECK-LABEL: llvm.func @copy
// CHECK:         [[SIZE_AT:%[0-9]+]] = llvm.getelementptr %0[24]
// CHECK:         [[SIZE:%[0-9]+]] = llvm.load [[SIZE_AT]]
// CHECK:         [[COUNT:%[0-9]+]] = llvm.lshr [[SIZE]], {{.*}} : i64
// CHECK:         [[ROOM:%[0-9]+]] = llvm.sub [[COUNT]],
// CHECK:         llvm.icmp "sgt" [[ROOM]],
// CHECK:         [[LAST:%[0-9]+]] = llvm.select {{.*}}, [[ROOM]],
// CHECK:         [[OUT:%[0-9]+]] = llvm.icmp "uge" {{.*}}, [[LAST]]
// CHECK:         llvm.cond_br [[OUT]],
// CHECK:         llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.store {{.*}} {alignment = 1 : i64} : vector<16xf32>
// CHECK:         llvm.icmp "uge" {{.*}} : vector<16xi64>
// CHECK:         llvm.call_intrinsic "llvm.vector.reduce.or.v16i1"
// CHECK:         llvm.call_intrinsic "llvm.masked.load.v16f32.p0"
// CHECK:         llvm.return
// CHECK:         llvm.store
// CHECK:         llvm.return
// PLAIN-LABEL: llvm.func @copy
// PLAIN-NOT:     "uge"
// PLAIN:         llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// PLAIN-NOT:     "uge"
// PLAIN:         llvm.return
// PLAIN-NOT:     llvm.return
tile.kernel @copy(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    tile.store %v, %y[%i] : memref<?xf32>
  }
}

// -----
// A gather is checked lane by lane, scratch from where it starts.
// CHECK-LABEL: llvm.func @gather
// CHECK:         llvm.icmp "ugt"
// CHECK:         llvm.icmp "uge" {{.*}} : vector<16xi64>
// CHECK:         "llvm.masked.gather.v16f32.v16p0"{{.*}}alignment = 1
// PLAIN-LABEL: llvm.func @gather
// PLAIN:         "llvm.masked.gather.v16f32.v16p0"{{.*}}alignment = 4
tile.kernel @gather(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %s = tile.scratch %n : memref<?xf32>
  tile.lanes %i = %zero to %n {
    %j = arith.muli %i, %three : index
    %v = tile.load %x[%j] : memref<?xf32>
    tile.store %v, %s[%i] : memref<?xf32>
  }
}

// -----
// All that a product reads is checked at once, in 128 bits.
// CHECK-LABEL: llvm.func @product
// CHECK:         llvm.sext {{.*}} : i64 to i128
// CHECK:         llvm.mul {{.*}} : i128
// CHECK:         llvm.cond_br
// CHECK:         "llvm.fma
// PLAIN-LABEL: llvm.func @product
// PLAIN-NOT:     i128
// PLAIN:         "llvm.fma
tile.kernel @product(%a: memref<?xf32>, %w: memref<?xf32>, %y: memref<?xf32>, %k: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %acc = tile.fill %c : f32 to vector<1x16xf32>
  %t = tile.mma %acc, %a[%zero], %w[%zero] rows %zero depth %k outer(%one by %zero, %one by %zero) : vector<1x16xf32>
  tile.store_tile %t, %y[%zero] rows %zero columns %k (%v : f32, %r : index, %q : index) {
    tile.yield %v : f32
  }
}

// -----
// Divisors are looked at, but constants; amounts of shifts are masked; what a float has no integer for is frozen.
// CHECK-LABEL: llvm.func @arithmetic
// CHECK:         [[ZERO:%[0-9]+]] = llvm.icmp "eq" [[N:%[0-9]+]],
// CHECK:         llvm.cond_br [[ZERO]],
// CHECK:         [[MINUS:%[0-9]+]] = llvm.icmp "eq" [[N]],
// CHECK:         [[SAFE:%[0-9]+]] = llvm.select [[MINUS]],
// CHECK:         llvm.sdiv {{.*}}, [[SAFE]]
// CHECK:         llvm.sub
// CHECK-NOT:     llvm.icmp "eq"
// CHECK:         llvm.sdiv
// CHECK:         llvm.and
// CHECK:         llvm.shl
// CHECK:         [[I:%[0-9]+]] = llvm.fptosi
// CHECK:         llvm.freeze [[I]]
// PLAIN-LABEL: llvm.func @arithmetic
// PLAIN-NOT:     llvm.freeze
// PLAIN-NOT:     "eq"
// PLAIN:         llvm.return
tile.kernel @arithmetic(%x: memref<?xf32>, %y: memref<?xi32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %seven = arith.constant 7 : index
  %q = arith.divsi %block, %n : index
  %p = arith.divsi %q, %seven : index
  %s = arith.shli %p, %n : index
  %v = tile.load %x[%s] : memref<?xf32>
  %i = arith.fptosi %v : f32 to i32
  tile.store %i, %y[%zero] : memref<?xi32>
}

// -----
// A loop's bounds and step are looked at, and its steps are counted: those that are known once and for all.
// CHECK-LABEL: llvm.func @loop
// CHECK:         llvm.icmp "slt" [[STEP:%[0-9]+]],
// CHECK:         [[LEFT:%[0-9]+]] = llvm.load {{.*}} : !llvm.ptr -> i64
// CHECK:         llvm.icmp "ugt" {{.*}}, [[LEFT]]
// CHECK:         llvm.sub [[LEFT]],
// PLAIN-LABEL: llvm.func @loop
tile.kernel @loop(%x: memref<?xf32>, %n: index, %step: index, %block: index) {
  %zero = arith.constant 0 : index
  %v = tile.load %x[%zero] : memref<?xf32>
  scf.for %i = %zero to %n step %step {
    tile.store %v, %x[%i] : memref<?xf32>
  }
}
