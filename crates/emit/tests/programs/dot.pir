kernel dot
memory @xs: global read f32
memory @ys: global read f32
memory @partial: global write f32
memory @scratch: shared f32[64]
memory @half: shared f32[32]
params @xs, @ys, @partial, %n: i64, %tiles: i64
threads 64
prologue {
  %span: i64 = mul %tiles, 64:i64
  %up: i64 = sub %span, 1:i64
  %rounded: i64 = add %n, %up
  %blocks: i64 = div %rounded, %span
}
blocks %block: i64 < %blocks
body {
  // fold at src/main.rs:4
  %base: i64 = mul %block, %span
  %rest: i64 = sub %n, %base
  %most: i64 = div %rest, 64:i64
  %whole: i64 = min %most, %tiles
  parallel %t: i64 < 64:i64 {
    %first: i64 = add %base, %t
    for %k: i64 in 0:i64..%whole step 1:i64 carry %sum: f32 = 0.0:f32 {
      %step: i64 = mul %k, 64:i64
      %i: i64 = add %first, %step
      %x: f32 = load @xs[%i]
      %y: f32 = load @ys[%i]
      %product: f32 = mul %x, %y
      %total: f32 = add %sum, %product
      next %total
    }
    %done: i64 = mul %whole, 64:i64
    %last: i64 = add %first, %done
    %end: i64 = add %base, %span
    %stop: i64 = min %n, %end
    %more: bool = lt %last, %stop
    %extra: f32 = if %more {
      %u: f32 = load @xs[%last]
      %v: f32 = load @ys[%last]
      %uv: f32 = mul %u, %v
      yield %uv
    } else {
      yield 0.0:f32
    }
    %mine: f32 = add %sum, %extra
    store @scratch[%t] = %mine
  }
  sync
  parallel %a: i64 < 32:i64 {
    %b: i64 = add %a, 32:i64
    %lo: f32 = load @scratch[%a]
    %hi: f32 = load @scratch[%b]
    %both: f32 = add %lo, %hi
    store @half[%a] = %both
  }
  sync
  parallel %z: i64 < 1:i64 {
    for %q: i64 in 0:i64..32:i64 step 1:i64 carry %acc: f32 = 0.0:f32 {
      %one: f32 = load @half[%q]
      %grown: f32 = add %acc, %one
      next %grown
    }
    store @partial[%block] = %acc
  }
}
