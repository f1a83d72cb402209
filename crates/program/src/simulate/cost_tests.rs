//! Tests of what is counted: each cost in a kernel that has it and in one that has not.

use pumice_scalar::Constant;

use super::*;

/// Returns the costs of a kernel of one block. `@xs` has 4096 elements of type `ty`, and there is shared memory `@s` as large.
fn costs(ty: &str, threads: u32, body: &str) -> Costs {
    report(ty, threads, body).costs
}

fn report(ty: &str, threads: u32, body: &str) -> Report {
    let text = format!(
        "kernel k\nmemory @xs: global readwrite {ty}\nmemory @s: shared {ty}[4096]\nmemory @c: shared i32[4096]\n\
         memory @p: private {ty}[3]\nparams @xs\nthreads {threads}\nblocks %b: i32 < 1:i32\nbody {{\n{body}\n}}\n"
    );
    let program = crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    crate::check(&program).unwrap_or_else(|error| panic!("{error}"));
    let ty = program.memories[0].ty;
    let xs: Vec<Constant> = (0..4096).map(|i| Constant::from_integer(ty, i)).collect();
    let mut memories = [SimMemory::from_constants(&xs)];
    let options = Options { races: false, ..Options::default() };
    simulate(&program, &mut memories, &[], &options).unwrap_or_else(|fault| panic!("{fault}\n{program}"))
}

/// A load by 32 lanes from an index that is computed from `%i`.
fn loads(ty: &str, index: &str) -> GlobalCosts {
    let body = format!("parallel %i: i32 < 32:i32 {{ {index} %x: {ty} = load @xs[%at] }}");
    let costs = costs(ty, 32, &body).global_loads;
    let stores = format!("parallel %i: i32 < 32:i32 {{ {index} store @xs[%at] = 0:{ty} }}");
    let zero = stores.replace("0:f32", "0.0:f32").replace("0:f64", "0.0:f64");
    assert_eq!(self::costs(ty, 32, &zero).global_stores, costs);
    assert_eq!((costs.requests, costs.elements), (1, 32));
    costs
}

#[test]
fn sectors_of_global_memory() {
    assert_eq!(loads("f32", "%at: i32 = add %i, 0:i32").sectors, 4);
    assert_eq!(loads("f32", "%at: i32 = sub 31:i32, %i").sectors, 4);
    assert_eq!(loads("f32", "%at: i32 = add %i, 1:i32").sectors, 5);
    assert_eq!(loads("f32", "%at: i32 = add %i, 8:i32").sectors, 4);
    assert_eq!(loads("f32", "%at: i32 = mul %i, 2:i32").sectors, 8);
    assert_eq!(loads("f32", "%at: i32 = mul %i, 8:i32").sectors, 32);
    assert_eq!(loads("f32", "%at: i32 = mul %i, 100:i32").sectors, 32);
    assert_eq!(loads("f32", "%at: i32 = mul %i, 0:i32").sectors, 1);
    assert_eq!(loads("f64", "%at: i32 = add %i, 0:i32").sectors, 8);
    assert_eq!(loads("f64", "%at: i32 = add %i, 1:i32").sectors, 9);
    // All over the place, twice each.
    assert_eq!(
        loads("f32", "%h: i32 = div %i, 2:i32 %m: i32 = mul %h, 777:i32 %at: i32 = and %m, 4095:i32").sectors,
        16
    );
}

#[test]
fn efficiency_is_what_is_asked_for_of_what_is_moved() {
    let together = loads("f32", "%at: i32 = add %i, 0:i32");
    assert_eq!((together.bytes, together.ideal_sectors(), together.efficiency()), (128, 4, 1.0));
    assert_eq!(loads("f32", "%at: i32 = mul %i, 8:i32").efficiency(), 0.125);
    assert_eq!(loads("f32", "%at: i32 = mul %i, 0:i32").efficiency(), 4.0);
    assert_eq!(GlobalCosts::default().efficiency(), 1.0);
}

#[test]
fn a_wide_access_is_one_request() {
    let body = "parallel %i: i32 < 32:i32 { %at: i32 = mul %i, 4:i32
        %x: f32, %y: f32, %z: f32, %w: f32 = load @xs[%at] store @xs[%at] = %y, %x, %w, %z }";
    let expected = GlobalCosts { requests: 1, elements: 128, bytes: 512, sectors: 16 };
    let found = costs("f32", 32, body);
    assert_eq!((found.global_loads, found.global_stores), (expected, expected));
}

#[test]
fn every_warp_does_what_a_block_does() {
    let body = "%x: f32 = load @xs[7:i32] %c: bool = lt %x, 0.0:f32 if %c { }";
    let found = costs("f32", 100, body);
    assert_eq!(found.global_loads, GlobalCosts { requests: 4, elements: 4, bytes: 16, sectors: 4 });
    assert_eq!((found.branches, found.divergent), (4, 0));
    let body = "warps %w: i32 < 3:i32 { %x: f32 = load @xs[%w] sync warp }";
    let found = costs("f32", 64, body);
    assert_eq!(found.global_loads, GlobalCosts { requests: 3, elements: 3, bytes: 12, sectors: 3 });
    assert_eq!((found.warp_barriers, found.block_barriers), (3, 0));
}

#[test]
fn only_lanes_that_are_active_count() {
    let body = "parallel %i: i32 < 40:i32 { %c: bool = lt %i, 3:i32 if %c { %x: f32 = load @xs[%i] } }";
    let found = costs("f32", 64, body);
    assert_eq!(found.global_loads, GlobalCosts { requests: 1, elements: 3, bytes: 12, sectors: 1 });
    assert_eq!((found.branches, found.divergent), (2, 1));
}

/// A store to and a load from shared memory by 32 lanes: wavefronts and conflicts.
fn shared(ty: &str, index: &str) -> (u64, u64) {
    let body = format!(
        "parallel %i: i32 < 32:i32 {{ {index} store @s[%at] = 0:{ty} }} sync
         parallel %j: i32 < 32:i32 {{ {} %x: {ty} = load @s[%again] }}",
        index.replace("%i", "%j").replace("%at", "%again").replace("%h", "%g")
    );
    let found = costs(ty, 32, &body.replace("0:f", "0.0:f"));
    assert_eq!(found.shared_loads, found.shared_stores);
    assert_eq!((found.shared_loads.requests, found.shared_loads.elements), (1, 32));
    (found.shared_loads.wavefronts, found.shared_loads.conflicts)
}

#[test]
fn conflicts_in_shared_memory() {
    assert_eq!(shared("f32", "%at: i32 = add %i, 5:i32"), (1, 0));
    assert_eq!(shared("f32", "%at: i32 = sub 31:i32, %i"), (1, 0));
    assert_eq!(shared("f32", "%at: i32 = mul %i, 2:i32"), (2, 1));
    assert_eq!(shared("f32", "%at: i32 = mul %i, 3:i32"), (1, 0));
    // A column of a tile that is 32 wide, and of one that is padded.
    assert_eq!(shared("f32", "%at: i32 = mul %i, 32:i32"), (32, 31));
    assert_eq!(shared("f32", "%at: i32 = mul %i, 33:i32"), (1, 0));
    // Lanes that want the same word get it together.
    assert_eq!(shared("f32", "%at: i32 = mul %i, 0:i32"), (1, 0));
    assert_eq!(shared("f32", "%h: i32 = and %i, 1:i32 %at: i32 = mul %h, 32:i32"), (2, 1));
    assert_eq!(shared("f32", "%at: i32 = div %i, 2:i32"), (1, 0));
}

#[test]
fn wide_elements_in_shared_memory() {
    assert_eq!(shared("f64", "%at: i32 = add %i, 3:i32"), (2, 0));
    assert_eq!(shared("f64", "%at: i32 = mul %i, 2:i32"), (4, 2));
    assert_eq!(shared("f64", "%at: i32 = mul %i, 16:i32"), (32, 30));
    assert_eq!(shared("f64", "%at: i32 = mul %i, 17:i32"), (2, 0));
    assert_eq!(shared("f64", "%at: i32 = mul %i, 0:i32"), (1, 0));
    assert_eq!(shared("f64", "%at: i32 = div %i, 2:i32"), (1, 0));
    let four = |stride: u32| {
        let body = format!(
            "parallel %i: i32 < 32:i32 {{ %at: i32 = mul %i, {stride}:i32
             store @s[%at] = 0.0:f32, 0.0:f32, 0.0:f32, 0.0:f32 }}"
        );
        let found = costs("f32", 32, &body).shared_stores;
        (found.wavefronts, found.conflicts)
    };
    assert_eq!(four(4), (4, 0));
    assert_eq!(four(8), (8, 4));
    assert_eq!(four(32), (32, 28));
}

#[test]
fn divergence_is_counted_by_warp() {
    let branch = |condition: &str| {
        let body = format!("parallel %i: i32 < 128:i32 {{ {condition} if %c {{ }} else {{ }} }}");
        let found = costs("f32", 128, &body);
        (found.branches, found.divergent)
    };
    assert_eq!(branch("%c: bool = lt %i, 64:i32"), (4, 0));
    assert_eq!(branch("%c: bool = lt %i, 65:i32"), (4, 1));
    assert_eq!(branch("%o: i32 = and %i, 1:i32 %c: bool = eq %o, 0:i32"), (4, 4));
    let found = costs("f32", 32, "parallel %i: i32 < 32:i32 { for %k: i32 in 0:i32..4:i32 step 1:i32 { } }");
    assert_eq!((found.branches, found.divergent), (5, 0));
    // Lane 0 leaves at the first test, lane 3 at the last one, where no lane stays.
    let found = costs("f32", 4, "parallel %i: i32 < 4:i32 { for %k: i32 in 0:i32..%i step 1:i32 { } }");
    assert_eq!((found.branches, found.divergent), (4, 3));
    let found = costs(
        "f32",
        4,
        "parallel %i: i32 < 4:i32 { while carry %k: i32 = 0:i32 { %c: bool = lt %k, %i } test %c {
           %n: i32 = add %k, 1:i32 next %n } }",
    );
    assert_eq!((found.branches, found.divergent), (4, 3));
}

#[test]
fn collisions_of_atomics() {
    let start = "parallel %z: i32 < 4096:i32 { store @c[%z] = 0:i32 } sync";
    let add = |index: &str| {
        let on = |memory: &str| {
            format!("{start} parallel %i: i32 < 32:i32 {{ {index} atomic add @{memory}[%at], 1:i32 }}")
        };
        let in_shared = costs("i32", 32, &on("c")).shared_atomics;
        let found = costs("i32", 32, &on("xs")).global_atomics;
        assert_eq!(in_shared, AtomicCosts { sectors: 0, ..found });
        assert_eq!((found.requests, found.elements), (1, 32));
        (found.collisions, found.sectors)
    };
    assert_eq!(add("%at: i32 = add %i, 0:i32"), (0, 4));
    assert_eq!(add("%at: i32 = and %i, 15:i32"), (16, 2));
    assert_eq!(add("%at: i32 = mul %i, 0:i32"), (31, 1));
}

#[test]
fn the_rest_is_counted_too() {
    let body = "sync sync parallel %i: i32 < 40:i32 { store @p[0:i32] = 0.0:f32 %x: bool = any true }";
    let report = report("f32", 64, body);
    assert_eq!((report.costs.block_barriers, report.costs.collectives), (2, 2));
    assert_eq!((report.private_cells, report.shared_bytes), (3, 0));
    let expected = Costs { block_barriers: 2, collectives: 2, ..Costs::default() };
    assert_eq!(report.costs, expected);
}

#[test]
fn costs_belong_to_places() {
    let body = "// force at src/x.rs:12
      parallel %i: i32 < 64:i32 { %y: f32 = load @xs[%i] store @s[%i] = %y }
      // nothing
      %z: i32 = add %b, 1:i32
      // sum at src/x.rs:14
      sync
      parallel %j: i32 < 64:i32 {
        %m: i32 = mul %j, 3:i32
        %k: i32 = and %m, 63:i32
        %x: f32 = load @s[%k]
        // inner
        %even: i32 = and %j, 1:i32
        %c: bool = eq %even, 0:i32
        if %c { %to: i32 = mul %j, 8:i32 store @xs[%to] = %x }
      }";
    let report = report("f32", 64, body);
    let names: Vec<&str> = report.places.iter().map(|place| place.place.as_str()).collect();
    assert_eq!(names, ["force at src/x.rs:12", "sum at src/x.rs:14", "inner"]);
    let mut total = Costs::default();
    report.places.iter().for_each(|place| total += place.costs);
    assert_eq!(total, report.costs);
    let expected = "\
blocks 1, threads 64, warps 2, steps 29, shared bytes 16384, private elements 3
                     | global loads              | global stores             | shared loads                    | shared stores                   | branches       | barriers
place                | requests  sectors  useful | requests  sectors  useful | requests  wavefronts  conflicts | requests  wavefronts  conflicts | all  divergent | block  warp
force at src/x.rs:12 |        2        8    100% |        0        0         |        0           0          0 |        2           2          0 |   0          0 |     0     0
sum at src/x.rs:14   |        0        0         |        0        0         |        2           2          0 |        0           0          0 |   0          0 |     1     0
inner                |        0        0         |        2       32     12% |        0           0          0 |        0           0          0 |   2          2 |     0     0
total                |        2        8    100% |        2       32     12% |        2           2          0 |        2           2          0 |   2          2 |     1     0
";
    assert_eq!(report.to_string(), expected, "\n{report}");
}

#[test]
fn counting_can_be_switched_off() {
    let text = "kernel k threads 32 blocks %b: i32 < 1:i32 body { sync }";
    let program = crate::parse(text).unwrap();
    let count = |costs| {
        let options = Options { costs, ..Options::default() };
        simulate(&program, &mut [], &[], &options).unwrap()
    };
    assert_eq!(count(true).costs.block_barriers, 1);
    assert_eq!((count(false).costs, count(false).places), (Costs::default(), Vec::new()));
    assert_eq!(count(false).to_string(), "blocks 1, threads 32, warps 1, steps 2\n");
}
