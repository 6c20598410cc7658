// RUN: gecc-opt %s --split-input-file -p tile-expand-math | filecheck %s

// A rational with a limited argument and result; the constants are those of x P(x^2) / Q(x^2).
// CHECK-LABEL: tile.kernel @tanh
// CHECK:         [[X:%.*]] = tile.load
// CHECK:         [[LOW:%.*]] = arith.constant -9.000000e+00 : f32
// CHECK:         arith.maximumf [[X]], [[LOW]] : f32
// CHECK:         arith.minimumf
// CHECK-COUNT-9: math.fma
// CHECK:         arith.divf
// CHECK:         arith.maximumf
// CHECK:         [[Y:%.*]] = arith.minimumf
// CHECK-NEXT:    tile.store [[Y]]
// CHECK-NOT:     math.tanh
tile.kernel @tanh(%x: memref<?xf32>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf32>
  %f = math.tanh %v : f32
  tile.store %f, %x[%block] : memref<?xf32>
}

// -----
// Inside loops, too; the wide form of another width has constants of its own. Where the result is 0, it is not computed:
// products that underflow are slow.
// CHECK-LABEL: tile.kernel @exp
// CHECK:         tile.lanes
// CHECK:           [[LOW:%.*]] = arith.constant -7.452000e+02 : f64
// CHECK-NEXT:      [[GONE:%.*]] = arith.cmpf olt, %v, [[LOW]] : f64
// CHECK-NEXT:      [[ZERO:%.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT:      arith.select [[GONE]], [[ZERO]], %v : f64
// CHECK:           math.roundeven
// CHECK:           arith.fptosi {{.*}} : f64 to i32
// CHECK:           arith.extsi {{.*}} : i32 to i64
// CHECK:           arith.constant 52 : i64
// CHECK:           arith.cmpf uno, %v, %v : f64
// CHECK-NEXT:      [[SOME:%.*]] = arith.select [[GONE]], [[ZERO]], {{.*}} : f64
// CHECK-NEXT:      arith.select {{.*}}, %v, [[SOME]] : f64
// CHECK-NOT:     math.exp
tile.kernel @exp(%x: memref<?xf64>, %n: index, %block: index) {
  %z = arith.constant 0 : index
  tile.lanes %i = %z to %n {
    %v = tile.load %x[%i] : memref<?xf64>
    %f = math.exp %v : f64
    tile.store %f, %x[%i] : memref<?xf64>
  }
}

// -----
// What is an instruction stays as it is, and so does what stands outside kernels.
// CHECK-LABEL: tile.kernel @native
// CHECK-NEXT:    %v = tile.load %x[%block] : memref<?xf32>
// CHECK-NEXT:    %s = math.sqrt %v : f32
// CHECK-NEXT:    %f = math.floor %s : f32
// CHECK-NEXT:    %c = math.ceil %f : f32
// CHECK-NEXT:    %r = math.roundeven %c : f32
// CHECK-NEXT:    %a = math.fma %r, %v, %v : f32
// CHECK-NEXT:    %d = arith.extf %a : f32 to f64
// CHECK-NEXT:    %w = arith.truncf %d : f64 to f32
// CHECK-NEXT:    tile.store %w, %x[%block] : memref<?xf32>
// CHECK-NEXT:  }
// CHECK:       func.func @host
// CHECK-NEXT:    %y = math.exp %x : f32
tile.kernel @native(%x: memref<?xf32>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf32>
  %s = math.sqrt %v : f32
  %f = math.floor %s : f32
  %c = math.ceil %f : f32
  %r = math.roundeven %c : f32
  %a = math.fma %r, %v, %v : f32
  %d = arith.extf %a : f32 to f64
  %w = arith.truncf %d : f64 to f32
  tile.store %w, %x[%block] : memref<?xf32>
}
func.func @host(%x: f32) -> f32 {
  %y = math.exp %x : f32
  func.return %y : f32
}

// -----
// f64 to f16 rounds once: by way of an f32 rounded to odd. f32 to f16 is an instruction.
// CHECK-LABEL: tile.kernel @narrow
// CHECK:         arith.truncf %w : f64 to f32
// CHECK:         arith.ori
// CHECK:         [[ODD:%.*]] = arith.select
// CHECK-NEXT:    arith.truncf [[ODD]] : f32 to f16
// CHECK:         %s = arith.truncf %v : f32 to f16
// CHECK-NOT:     arith.truncf
tile.kernel @narrow(%d: memref<?xf64>, %x: memref<?xf32>, %h: memref<?xf16>, %block: index) {
  %w = tile.load %d[%block] : memref<?xf64>
  %n = arith.truncf %w : f64 to f16
  tile.store %n, %h[%block] : memref<?xf16>
  %v = tile.load %x[%block] : memref<?xf32>
  %s = arith.truncf %v : f32 to f16
  tile.store %s, %h[%block] : memref<?xf16>
}

// -----
// Half formats are computed in f32; a bf16 is made of the upper bits of an f32.
// CHECK-LABEL: tile.kernel @halves
// CHECK:         [[A:%.*]] = arith.extf %v : f16 to f32
// CHECK-NEXT:    [[B:%.*]] = arith.mulf [[A]], [[A]] : f32
// CHECK-NEXT:    [[C:%.*]] = arith.truncf [[B]] : f32 to f16
// CHECK-NEXT:    tile.store [[C]]
// CHECK:         arith.bitcast %w : bf16 to i16
// CHECK:         arith.shli
// CHECK:         arith.addf {{.*}} : f32
// CHECK:         arith.shrui
// CHECK:         arith.bitcast {{.*}} : i16 to bf16
// CHECK-NOT:     bf16 to f32
tile.kernel @halves(%x: memref<?xf16>, %y: memref<?xbf16>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf16>
  %f = arith.mulf %v, %v : f16
  tile.store %f, %x[%block] : memref<?xf16>
  %w = tile.load %y[%block] : memref<?xbf16>
  %g = arith.addf %w, %w : bf16
  tile.store %g, %y[%block] : memref<?xbf16>
}

// -----
// A function of a half is widened first, then expanded.
// CHECK-LABEL: tile.kernel @half_function
// CHECK:         arith.extf %v : f16 to f32
// CHECK:         arith.divf {{.*}} : f32
// CHECK:         arith.truncf {{.*}} : f32 to f16
// CHECK-NOT:     math.erf
tile.kernel @half_function(%x: memref<?xf16>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf16>
  %f = math.erf %v : f16
  tile.store %f, %x[%block] : memref<?xf16>
}

// -----
// Powers: of f32 in f64, of integers in a loop over the bits of the exponent.
// CHECK-LABEL: tile.kernel @powers
// CHECK:         arith.extf %v : f32 to f64
// CHECK:         arith.truncf {{.*}} : f64 to f32
// CHECK:         [[BITS:%.*]] = arith.constant 32 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to [[BITS]] step
// CHECK-NOT:     math.powf
// CHECK-NOT:     math.ipowi
tile.kernel @powers(%x: memref<?xf32>, %y: memref<?xi32>, %block: index) {
  %v = tile.load %x[%block] : memref<?xf32>
  %f = math.powf %v, %v : f32
  tile.store %f, %x[%block] : memref<?xf32>
  %w = tile.load %y[%block] : memref<?xi32>
  %g = math.ipowi %w, %w : i32
  tile.store %g, %y[%block] : memref<?xi32>
}
