//! Measures the speed of the simulator: a kernel that streams, and one that reduces in shared memory, over 2^22 elements.
//!
//! `cargo run --release -p pumice-program --example simulate_speed`

use std::time::Instant;

use pumice_program::simulate::Options;
use pumice_program::{SimMemory, parse, simulate};
use pumice_scalar::Constant;

const SAXPY: &str = "kernel saxpy
memory @xs: global read f32
memory @ys: global readwrite f32
params @xs, @ys, %n: i64, %a: f32
threads 256
prologue { %up: i64 = add %n, 255:i64 %blocks: i64 = div %up, 256:i64 }
blocks %b: i64 < %blocks
body {
  // saxpy
  %first: i64 = mul %b, 256:i64
  parallel %i: i64 < 256:i64 {
    %at: i64 = add %first, %i
    %inside: bool = lt %at, %n
    if %inside {
      %x: f32 = load @xs[%at]
      %y: f32 = load @ys[%at]
      %ax: f32 = mul %a, %x
      %z: f32 = add %ax, %y
      store @ys[%at] = %z
    }
  }
}";

const REDUCE: &str = "kernel reduce
memory @xs: global read f32
memory @out: global write f32
memory @s: shared f32[256]
params @xs, @out, %n: i64, %a: f32
threads 256
prologue { %blocks: i64 = div %n, 1024:i64 }
blocks %b: i64 < %blocks
body {
  // load
  %first: i64 = mul %b, 1024:i64
  parallel %i: i64 < 256:i64 {
    %base: i64 = add %first, %i
    for %k: i64 in 0:i64..1024:i64 step 256:i64 carry %sum: f32 = 0.0:f32 {
      %at: i64 = add %base, %k
      %x: f32 = load @xs[%at]
      %more: f32 = add %sum, %x
      next %more
    }
    store @s[%i] = %sum
  }
  // tree
  while carry %half: i64 = 128:i64 {
    %go: bool = lt 0:i64, %half
  } test %go {
    sync
    parallel %j: i64 < %half {
      %k2: i64 = add %j, %half
      %p: f32 = load @s[%j]
      %q: f32 = load @s[%k2]
      %r: f32 = add %p, %q
      store @s[%j] = %r
    }
    %next: i64 = div %half, 2:i64
    next %next
  }
  sync
  parallel %z: i64 < 1:i64 {
    %total: f32 = load @s[0:i64]
    store @out[%b] = %total
  }
}";

fn main() {
    let n = 1usize << 22;
    for text in [SAXPY, REDUCE] {
        let program = parse(text).expect("the kernels are well formed");
        for races in [true, false] {
            let values: Vec<u8> = (0..n).flat_map(|i| ((i % 97) as f32).to_le_bytes()).collect();
            let mut memories = [SimMemory::from_bytes(values.clone()), SimMemory::from_bytes(values)];
            let scalars: [Constant; 2] = [(n as i64).into(), 2.0f32.into()];
            let options = Options { races, ..Options::default() };
            let start = Instant::now();
            let report = simulate(&program, &mut memories, &scalars, &options).expect("no fault");
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{:8} races {races:5}: {seconds:.3} s, {} steps, {:.1} million steps/s, {:.1} million elements/s",
                program.name,
                report.steps,
                report.steps as f64 / seconds / 1e6,
                n as f64 / seconds / 1e6,
            );
        }
    }
}
