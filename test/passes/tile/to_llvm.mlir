// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p 'tile-to-llvm{target="x86-64-v4"}' | filecheck %s
// RUN: gecc-opt %s --split-input-file --verify-diagnostics -p 'tile-to-llvm{target="x86-64-v3"}' | filecheck %s --check-prefix V3

// Lanes become four vectors of the target's width at a time, then one, then a masked rest.
// CHECK-LABEL: llvm.func @relu(%0: !llvm.ptr, %1: i64, %2: i64, %3: !llvm.ptr, %4: !llvm.ptr)
// CHECK-COUNT-5: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK:         [[MASK:%[0-9]+]] = llvm.icmp "ult" {{.*}} : vector<16xi32>
// CHECK:         llvm.call_intrinsic "llvm.masked.load.v16f32.p0"({{.*}}, [[MASK]],
// CHECK:         llvm.call_intrinsic "llvm.masked.store.v16f32.p0"({{.*}}, [[MASK]])
// CHECK:         llvm.return
// V3-LABEL: llvm.func @relu
// V3-COUNT-5: llvm.store {{.*}} : vector<8xf32>, !llvm.ptr
// V3:         llvm.call_intrinsic "llvm.masked.store.v8f32.p0"
tile.kernel @relu(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %c = arith.constant 0.0 : f32
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    %m = arith.maximumf %v, %c : f32
    tile.store %m, %y[%i] : memref<?xf32>
  }
}

// -----
// What is the same in all lanes is loaded once and broadcast; strided lanes are gathered; bits are bytes in memory.
// CHECK-LABEL: llvm.func @addresses
// CHECK:         [[ONE:%[0-9]+]] = llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK:         llvm.call_intrinsic "llvm.masked.gather.v16f32.v16p0"
// CHECK:         llvm.insertelement [[ONE]],
// CHECK:         llvm.fcmp 2
// CHECK:         llvm.zext {{.*}} : vector<16xi1> to vector<16xi8>
// CHECK:         llvm.store {{.*}} : vector<16xi8>, !llvm.ptr
// V3-LABEL: llvm.func @addresses
tile.kernel @addresses(%x: memref<?xf32>, %y: memref<?xi1>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  tile.lanes %i = %zero to %n {
    %same = tile.load %x[%n] : memref<?xf32>
    %far = arith.muli %i, %three : index
    %v = tile.load %x[%far] : memref<?xf32>
    %m = arith.cmpf ogt, %v, %same : f32
    tile.store %m, %y[%i] : memref<?xi1>
  }
}

// -----
// Lanes reduce in vectors, from the neutral element; what lanes that do not run hold does not count.
// CHECK-LABEL: llvm.func @largest
// CHECK:         dense<0xff800000> : vector<16xf32>
// CHECK:         llvm.call_intrinsic "llvm.masked.load.v16f32.p0"
// CHECK:         llvm.select
// CHECK:         llvm.shufflevector {{.*}} [8, 9, 10, 11, 12, 13, 14, 15,
// CHECK:         llvm.extractelement
// V3-LABEL: llvm.func @largest
// V3:         llvm.shufflevector {{.*}} [4, 5, 6, 7,
tile.kernel @largest(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %c = arith.constant 0.0 : f32
  %top = tile.lanes %i = %zero to %n reduce("max" %c : f32) {
    %v = tile.load %x[%i] : memref<?xf32>
    tile.yield %v : f32
  }
  tile.store %top, %y[%block] : memref<?xf32>
}

// -----
// Lanes that do not run hold zeros, by which nothing may be divided.
// CHECK-LABEL: llvm.func @divide
// CHECK:         llvm.sdiv {{.*}} : vector<16xi32>
// CHECK:         [[SAFE:%[0-9]+]] = llvm.select {{.*}} : vector<16xi1>, vector<16xi32>, vector<16xi32>
// CHECK-NEXT:    llvm.sdiv {{.*}}, [[SAFE]] : vector<16xi32>
// V3-LABEL: llvm.func @divide
tile.kernel @divide(%x: memref<?xi32>, %y: memref<?xi32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xi32>
    %w = tile.load %y[%i] : memref<?xi32>
    %q = arith.divsi %v, %w : i32
    %r = arith.xori %q, %w : i32
    %s = arith.addi %r, %w : i32
    %t = arith.muli %s, %v : i32
    tile.store %t, %y[%i] : memref<?xi32>
  }
}

// -----
// A step known at run time: the lanes' distances from the first are the same in all turns, and only the first one's address
// is computed in each.
// CHECK-LABEL: llvm.func @strided
// CHECK:         [[STEPS:%.*]] = llvm.mul {{.*}} : vector<16xi64>
// CHECK:         [[FIRST:%.*]] = llvm.getelementptr
// CHECK:         [[BYTES:%.*]] = llvm.mul [[STEPS]], {{.*}} : vector<16xi64>
// CHECK-NEXT:    llvm.lane_addresses [[FIRST]]{{\[}}[[BYTES]]{{\]}}
// CHECK:         llvm.call_intrinsic "llvm.masked.gather.v16f32.v16p0"
// V3-LABEL: llvm.func @strided
tile.kernel @strided(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %stride: index, %block: index) {
  %z = arith.constant 0 : index
  tile.lanes %i = %z to %n {
    %p = arith.muli %i, %stride : index
    %at = arith.addi %block, %p : index
    %v = tile.load %x[%at] : memref<?xf32>
    tile.store %v, %y[%i] : memref<?xf32>
  }
}

// -----
// An index is checked as unsigned; what is wrong is told in the rank's state, and the run goes on with index 0.
// CHECK-LABEL: llvm.func @gather(%0: !llvm.ptr, %1: i64, %2: i64, %3: !llvm.ptr, %4: !llvm.ptr)
// CHECK:         llvm.icmp "ult" {{.*}} : i64
// CHECK:         llvm.select
// CHECK:         llvm.cond_br
// CHECK:         llvm.getelementptr %4[
// CHECK:         llvm.store
// V3-LABEL: llvm.func @gather
tile.kernel @gather(%x: memref<?xf32>, %i: memref<?xi64>, %y: memref<?xf32>, %n: index, %block: index) {
  %k = tile.load %i[%block] : memref<?xi64>
  %at = arith.index_cast %k : i64 to index
  %checked = tile.check_index %at in %n
  %v = tile.load %x[%checked] : memref<?xf32>
  tile.store %v, %y[%block] : memref<?xf32>
}

// -----
// A register tile of 2 x 32 is 2 x 2 vectors on one target and 2 x 4 on the other: in a pass of four steps each panel
// row is loaded once and used by both rows. The last columns are stored under a mask.
// CHECK-LABEL: llvm.func @product
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.fma.v16f32"
// CHECK:         llvm.maxnum
// CHECK:         llvm.call_intrinsic "llvm.masked.store.v16f32.p0"
// V3-LABEL: llvm.func @product
// V3-COUNT-32: llvm.call_intrinsic "llvm.fma.v8f32"
tile.kernel @product(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %fill = tile.fill %c : f32 to vector<2x32xf32>
  %acc = tile.mma %fill, %a[%zero], %b[%zero] rows %n depth %n outer(%one by %zero, %one by %zero) : vector<2x32xf32>
  tile.store_tile %acc, %y[%zero] rows %n columns %n (%v: f32, %r: index, %k: index) {
    %w = arith.maxnumf %v, %c : f32
    tile.yield %w : f32
  }
}

// -----
// f16 is widened as it is loaded; integers are multiplied and added.
// CHECK-LABEL: llvm.func @half_product
// CHECK:         llvm.load {{.*}} {alignment = 32 : i64} : !llvm.ptr -> vector<16xf16>
// CHECK-NEXT:    llvm.fpext {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK-LABEL: llvm.func @integer_product
// CHECK-NOT:     llvm.fma
// CHECK:         llvm.mul {{.*}} : vector<16xi32>
// CHECK-NEXT:    llvm.add {{.*}} : vector<16xi32>
// V3-LABEL: llvm.func @half_product
tile.kernel @half_product(%a: memref<?xf16>, %b: memref<?xf16>, %y: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %fill = tile.fill %c : f32 to vector<2x16xf32>
  %acc = tile.mma %fill, %a[%zero], %b[%zero] rows %n depth %n outer(%one by %zero, %one by %zero) : vector<2x16xf32>
  tile.store_tile %acc, %y[%zero] rows %n columns %n (%v: f32, %r: index, %k: index) {
    tile.yield %v : f32
  }
}
tile.kernel @integer_product(%a: memref<?xi32>, %b: memref<?xi32>, %y: memref<?xi32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 0 : i32
  %fill = tile.fill %c : i32 to vector<2x16xi32>
  %acc = tile.mma %fill, %a[%zero], %b[%zero] rows %n depth %n outer(%one by %zero, %one by %zero) : vector<2x16xi32>
  tile.store_tile %acc, %y[%zero] rows %n columns %n (%v: i32, %r: index, %k: index) {
    tile.yield %v : i32
  }
}

// -----
// Nothing is called: a function that was not expanded is an error.
// CHECK: no machine code for operation 'math.sin' in kernel @sine
// CHECK: hint: expand it to arith operations
// V3: no machine code for operation 'math.sin' in kernel @sine
tile.kernel @sine(%x: memref<?xf32>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf32>
  %f = math.sin %v : f32
  tile.store %f, %x[%block] : memref<?xf32>
}

// -----
// CHECK: kernel @race: lanes store different values to one place
// V3: kernel @race
tile.kernel @race(%x: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    tile.store %v, %x[%zero] : memref<?xf32>
  }
}

// -----
// CHECK: kernel @nested: tile.lanes inside lanes
// V3: kernel @nested
tile.kernel @nested(%x: memref<?xf32>, %n: index, %block: index) {
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    tile.lanes %j = %zero to %n {
    }
  }
}

// -----
// Pairs of steps lie as they are multiplied: one load of two rows, widened, for two steps; what is odd at the end is left.
// CHECK-LABEL: llvm.func @pairs
// CHECK:         llvm.and {{.*}} : i64
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<32xi8>
// CHECK-NOT:     llvm.load {{.*}} -> vector<16xi8>
// CHECK:         llvm.return
// V3-LABEL: llvm.func @pairs
// V3:            llvm.load {{.*}} -> vector<16xi8>
// V3-NOT:        llvm.shl {{.*}} : vector<8xi32>
// V3:            llvm.return
tile.kernel @pairs(%a: memref<?xi16>, %b: memref<?xi8>, %y: memref<?xi32>, %n: index, %block: index) {
  %zero = arith.constant 0 : i32
  %o = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 16 : index
  %t = tile.fill %zero : i32 to vector<1x16xi32>
  %u = tile.mma %t, %a[%o], %b[%o] rows %n depth %n outer(%one by %o, %one by %o) pairs : vector<1x16xi32>
  tile.store_tile %u, %y[%block] rows %n columns %c (%v: i32, %i: index, %j: index) {
    tile.yield %v : i32
  }
}
