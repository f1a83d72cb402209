kernel saxpy
memory @xs: global read f32
memory @ys: global read f32
memory @out: global write f32
params @xs, @ys, @out, %a: f32, %n: i64
threads 256
prologue {
  %rounded: i64 = add %n, 1023:i64
  %blocks: i64 = div %rounded, 1024:i64
}
blocks %block: i64 < %blocks
body {
  // zip_with at src/main.rs:3
  %base: i64 = mul %block, 1024:i64
  %left: i64 = sub %n, %base
  %whole: bool = le 1024:i64, %left
  if %whole {
    parallel %t: i32 < 256:i32 {
      %wide: i64 = cast %t
      %four: i64 = mul %wide, 4:i64
      %i: i64 = add %base, %four
      %x0: f32, %x1: f32, %x2: f32, %x3: f32 = load @xs[%i]
      %y0: f32, %y1: f32, %y2: f32, %y3: f32 = load @ys[%i]
      %p0: f32 = mul %a, %x0
      %p1: f32 = mul %a, %x1
      %p2: f32 = mul %a, %x2
      %p3: f32 = mul %a, %x3
      %z0: f32 = add %p0, %y0
      %z1: f32 = add %p1, %y1
      %z2: f32 = add %p2, %y2
      %z3: f32 = add %p3, %y3
      store @out[%i] = %z0, %z1, %z2, %z3
    }
  } else {
    parallel %s: i64 < %left {
      %j: i64 = add %base, %s
      %x: f32 = load @xs[%j]
      %y: f32 = load @ys[%j]
      %p: f32 = mul %a, %x
      %z: f32 = add %p, %y
      store @out[%j] = %z
    }
  }
}
