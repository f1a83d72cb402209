kernel checked_gather
memory @xs: global read f64
memory @indices: global read i64
memory @out: global write f64
memory @failure: global readwrite i64
params @xs, @indices, @out, @failure, %n: i64, %length: i64, %base: i64
failure @failure + %base
threads 128
prologue {
  %rounded: i64 = add %n, 127:i64
  %blocks: i64 = div %rounded, 128:i64
}
blocks %block: i64 < %blocks
body {
  // backpermute at src/main.rs:9
  %first: i64 = mul %block, 128:i64
  %rest: i64 = sub %n, %first
  %extent: i64 = min %rest, 128:i64
  parallel %t: i64 < %extent {
    %i: i64 = add %first, %t
    %index: i64 = load @indices[%i]
    %above: bool = le 0:i64, %index
    %below: bool = lt %index, %length
    %inside: bool = and %above, %below
    fail 0 unless %inside, index %index, bound %length
    %x: f64 = if %inside {
      %found: f64 = load @xs[%index]
      yield %found
    } else {
      yield 0.0:f64
    }
    %y: f64 = exp %x
    store @out[%i] = %y
  }
}
