kernel mandelbrot
memory @out: global write i32
params @out, %n: i64, %width: i64, %cap: i32, %scale: f32
threads 1024
prologue {
  %rounded: i64 = add %n, 1023:i64
  %blocks: i64 = div %rounded, 1024:i64
}
blocks %block: i64 < %blocks
body {
  // generate at src/main.rs:7
  %base: i64 = mul %block, 1024:i64
  %rest: i64 = sub %n, %base
  %extent: i64 = min %rest, 1024:i64
  parallel %t: i64 < %extent {
    %i: i64 = add %base, %t
    %row: i64 = div %i, %width
    %column: i64 = rem %i, %width
    %r: f32 = cast %row
    %c: f32 = cast %column
    %rs: f32 = mul %r, %scale
    %cs: f32 = mul %c, %scale
    %r2: f32 = mul %rs, 2.0:f32
    %c3: f32 = mul %cs, 3.0:f32
    %cy: f32 = sub %r2, 1.0:f32
    %cx: f32 = sub %c3, 2.0:f32
    while carry %x: f32 = 0.0:f32, %y: f32 = 0.0:f32, %count: i32 = 0:i32 {
      %xx: f32 = mul %x, %x
      %yy: f32 = mul %y, %y
      %square: f32 = add %xx, %yy
      %near: bool = le %square, 4.0:f32
      %below: bool = lt %count, %cap
      %going: bool = and %near, %below
    } test %going {
      %d: f32 = sub %xx, %yy
      %x1: f32 = add %d, %cx
      %xy: f32 = mul %x, %y
      %xy2: f32 = mul 2.0:f32, %xy
      %y1: f32 = add %xy2, %cy
      %up: i32 = add %count, 1:i32
      next %x1, %y1, %up
    }
    store @out[%i] = %count
  }
}
