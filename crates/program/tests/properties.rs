//! Properties of random programs: text, verifier, passes, memory plans and bounds, all against the simulator.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pumice_generate::{N_RANGE, memories, program, scalars};
use pumice_program::simulate::Options;
use pumice_program::{
    AtomicOp, Atomics, Capabilities, CollectiveOp, Failure, FaultKind, Intervals, Memory, MemoryId, Operand,
    Param, Program, Ranges, Scope, SimMemory, Space, Stmt, Target, Uniformity, Var, VectorOptions,
    WideAtomics, Workers, check, drop_spare_vars, eliminate_dead, legalise, mark_exact, narrow, parse, plan,
    settle, simulate, vectorise,
};
use pumice_scalar::{Constant, Op, ScalarType};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

/// The memories after a run, and how many checks failed; `None` if there was a fault.
fn run(program: &Program, n: i64) -> Option<(Vec<SimMemory>, u64)> {
    let mut memories = memories();
    match simulate(program, &mut memories, &scalars(n), &Options::default()) {
        Ok(report) => Some((memories, report.failures)),
        Err(fault) => {
            assert!(fault.kind == FaultKind::Race, "{fault}\n{program}");
            None
        }
    }
}

/// Checks that a program settled for these ranges of its arguments does the same, and gives it.
fn assert_settled_same(before: &Program, n: i64, ranges: &Ranges) -> Program {
    let mut after = before.clone();
    let gone = settle(&mut after, ranges);
    if let Err(error) = check(&after) {
        panic!("settle: {error}\nbefore:\n{before}\nafter:\n{after}");
    }
    let Some((expected, failures)) = run(before, n) else {
        return after;
    };
    // The arguments whose parameters are gone are not passed.
    let (mut memories, mut scalars, mut expected) =
        (memories().into_iter(), scalars(n).into_iter(), expected.into_iter());
    let (mut kept_memories, mut kept_scalars, mut kept_expected) = (Vec::new(), Vec::new(), Vec::new());
    for (position, param) in before.params.iter().enumerate() {
        let (memory, scalar) = match param {
            Param::Memory(_) => (memories.next().zip(expected.next()), None),
            Param::Scalar(_) => (None, scalars.next()),
        };
        if gone.contains(&position) {
            if let Some((memory, expected)) = memory {
                assert!(memory == expected, "the failure memory was written\n{before}");
            }
            continue;
        }
        if let Some((memory, expected)) = memory {
            kept_memories.push(memory);
            kept_expected.push(expected);
        }
        kept_scalars.extend(scalar);
    }
    let options = Options::default();
    let report = simulate(&after, &mut kept_memories, &kept_scalars, &options)
        .unwrap_or_else(|fault| panic!("settle: {fault}\nbefore:\n{before}\nafter:\n{after}"));
    let same = kept_memories == kept_expected && fails_alike(failures, report.failures);
    assert!(same, "settle\nbefore:\n{before}\nafter:\n{after}");
    after
}

/// The range of `n` and the exact values of the others.
fn ranges(program: &Program) -> Ranges {
    let var = |name: &str| {
        let position = program.vars.iter().position(|info| info.name == name);
        Var(position.unwrap_or_default() as u32)
    };
    BTreeMap::from([(var("n"), N_RANGE), (var("m"), (-3, -3)), (var("base"), (0, 1000))])
}

fn assert_same(before: &Program, after: &Program, n: i64, what: &str) {
    if let Err(error) = check(after) {
        panic!("{what}: {error}\nbefore:\n{before}\nafter:\n{after}");
    }
    let expected = run(before, n);
    // A pass may do as it likes with a program that races.
    if let Some((expected, failures)) = expected {
        let same =
            run(after, n).is_some_and(|(found, fewer)| found == expected && fails_alike(failures, fewer));
        assert!(same, "{what}\nbefore:\n{before}\nafter:\n{after}");
    }
}

/// Whether as many checks fail as before, or fewer but some: a condition that is checked twice need be checked once only.
fn fails_alike(before: u64, after: u64) -> bool {
    after <= before && (after == 0) == (before == 0)
}

/// The program with its shared memories of one type (all that are not for atomics) placed in one, as planned.
fn overlay(program: &Program) -> Program {
    let layout = plan(program, 1 << 16).unwrap();
    let mut result = program.clone();
    let arena = MemoryId(result.memories.len() as u32);
    let space = Space::Shared { length: layout.bytes / 4 };
    result.memories.push(Memory { name: "arena".into(), ty: ScalarType::F32, space });
    fn list(
        result: &mut Program,
        layout: &pumice_program::Layout,
        arena: MemoryId,
        statements: Vec<Stmt>,
    ) -> Vec<Stmt> {
        let mut out = Vec::new();
        for mut stmt in statements {
            if let Stmt::Load { memory, index, .. } | Stmt::Store { memory, index, .. } = &mut stmt
                && result.memory(*memory).ty == ScalarType::F32
                && let Some(offset) = layout.offset(*memory)
            {
                let ty = result.operand_type(*index);
                let moved = result.add_var(ty, "moved");
                let offset = Operand::Constant(Constant::from_integer(ty, i128::from(offset / 4)));
                out.push(Stmt::Let { var: moved, op: Op::Add, operands: vec![*index, offset] });
                (*memory, *index) = (arena, Operand::Var(moved));
            }
            for child in stmt.children_mut() {
                *child = list(result, layout, arena, std::mem::take(child));
            }
            out.push(stmt);
        }
        out
    }
    let body = std::mem::take(&mut result.body);
    result.body = list(&mut result, &layout, arena, body);
    result
}

/// The program with a check after every integer that a thread computes: that it is within its bounds.
fn with_bounds_checked(program: &Program, intervals: &Intervals) -> Program {
    let mut result = program.clone();
    fn list(result: &mut Program, intervals: &Intervals, statements: Vec<Stmt>, parallel: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        for mut stmt in statements {
            if let Stmt::Fail { .. } = stmt {
                continue;
            }
            let inside = parallel || matches!(stmt, Stmt::Parallel { .. });
            for child in stmt.children_mut() {
                *child = list(result, intervals, std::mem::take(child), inside);
            }
            // The index of a loop cannot be read after it.
            let index = match stmt {
                Stmt::For { var, .. } | Stmt::Parallel { var, .. } => Some(var),
                _ => None,
            };
            let defined: Vec<Var> = stmt.defines().into_iter().filter(|&var| Some(var) != index).collect();
            out.push(stmt);
            for var in defined {
                let ty = result.var_type(var);
                if !parallel || !ty.is_integer() {
                    continue;
                }
                let (low, high) = intervals.var(var);
                let bound = |value| Operand::Constant(Constant::from_integer(ty, value));
                let [above, below, both] = [(); 3].map(|()| result.add_var(ScalarType::Bool, "inside"));
                let var = Operand::Var(var);
                out.push(Stmt::Let { var: above, op: Op::Le, operands: vec![bound(low), var] });
                out.push(Stmt::Let { var: below, op: Op::Le, operands: vec![var, bound(high)] });
                let operands = vec![Operand::Var(above), Operand::Var(below)];
                out.push(Stmt::Let { var: both, op: Op::And, operands });
                let zero = Operand::Constant(0i64.into());
                out.push(Stmt::Fail { unless: Operand::Var(both), site: 0, index: zero, bound: zero });
            }
        }
        out
    }
    let body = std::mem::take(&mut result.body);
    result.body = list(&mut result, intervals, body, false);
    let base = program.vars.iter().position(|info| info.name == "base").unwrap();
    let failure = Failure { memory: MemoryId(4), base: Var(base as u32) };
    result.failure = Some(failure);
    if check(&result).is_err() {
        // There was nothing to check.
        result.failure = None;
    }
    result
}

/// A program of comparisons between small integers that hang together: arguments, indices below others, the smaller of
/// two, quotients and remainders. It writes one number, which tells how every comparison came out.
fn small_integers(bytes: &[u8]) -> String {
    struct Writer<'a> {
        bytes: std::slice::Iter<'a, u8>,
        text: String,
        names: Vec<String>,
        count: usize,
    }
    impl Writer<'_> {
        fn below(&mut self, bound: usize) -> usize {
            usize::from(self.bytes.next().copied().unwrap_or(0)) % bound.max(1)
        }
        fn any(&mut self) -> String {
            match self.below(6) {
                0 => format!("{}:i64", self.below(5)),
                _ => {
                    let back = self.below(self.names.len().min(7));
                    format!("%{}", self.names[self.names.len() - 1 - back])
                }
            }
        }
        fn name(&mut self, letter: &str) -> String {
            self.count += 1;
            format!("{letter}{}", self.count)
        }
        fn computation(&mut self) {
            let op =
                ["add", "sub", "mul", "min", "max", "div", "rem", "shr", "shl", "and", "min", "sub", "add"];
            let op = op[self.below(op.len())];
            let first = self.any();
            let second = match op {
                "mul" => format!("{}:i64", 2 + self.below(2)),
                "shl" | "shr" => format!("{}:i64", 1 + self.below(2)),
                "div" | "rem" if self.below(2) == 0 => format!("{}:i64", 1 + self.below(4)),
                _ => self.any(),
            };
            let name = self.name("x");
            self.text += &format!("%{name}: i64 = {op} {first}, {second}\n");
            self.names.push(name);
        }
        /// A comparison, and what it leads to, added to what the variable counts.
        fn comparison(&mut self, counted: String, depth: usize) -> String {
            let op = ["lt", "le", "eq", "ne", "lt", "le"][self.below(6)];
            let (first, second, test) = (self.any(), self.any(), self.name("t"));
            let [number, tripled, sum] = [self.name("v"), self.name("v"), self.name("v")];
            self.text += &format!("%{test}: bool = {op} {first}, {second}\n");
            if depth == 0 || self.below(2) == 0 {
                self.text += &format!("%{number}: i64 = select %{test}, 1:i64, 2:i64\n");
            } else {
                self.text += &format!("%{number}: i64 = if %{test} {{\n");
                for end in ["} else {\n", "}\n"] {
                    let known = self.names.len();
                    self.computation();
                    let given = self.comparison("1:i64".into(), depth - 1);
                    self.text += &format!("yield {given}\n{end}");
                    self.names.truncate(known);
                }
            }
            self.text += &format!("%{tripled}: i64 = mul {counted}, 3:i64\n");
            self.text += &format!("%{sum}: i64 = add %{tripled}, %{number}\n");
            format!("%{sum}")
        }
        fn repeat(&mut self, counted: String, depth: usize) -> String {
            let (start, end) = (if self.below(3) == 0 { "1:i64" } else { "0:i64" }, self.any());
            let [index, limit, carried] = [self.name("i"), self.name("x"), self.name("c")];
            let (most, step) = (1 + self.below(8), 1 + self.below(3));
            self.text += &format!("%{limit}: i64 = min {end}, {most}:i64\n");
            self.names.push(limit.clone());
            self.text += &format!(
                "for %{index}: i64 in {start}..%{limit} step {step}:i64 carry %{carried}: i64 = {counted} {{\n"
            );
            let known = self.names.len();
            self.names.push(index);
            for _ in 0..1 + self.below(4) {
                self.computation();
            }
            let mut counted = self.comparison(format!("%{carried}"), 2);
            if depth > 0 && self.below(2) == 0 {
                counted = self.repeat(counted, depth - 1);
            }
            counted = self.comparison(counted, 1);
            self.text += &format!("next {counted}\n}}\n");
            self.names.truncate(known);
            format!("%{carried}")
        }
    }
    let names = vec!["a".to_owned(), "b".to_owned()];
    let mut writer = Writer { bytes: bytes.iter(), text: String::new(), names, count: 0 };
    for _ in 0..2 + writer.below(5) {
        writer.computation();
    }
    let counted = writer.comparison("0:i64".into(), 1);
    let counted = writer.repeat(counted, 1);
    let counted = writer.repeat(counted, 1);
    format!(
        "kernel k memory @out: global write i64 params @out, %a: i64, %b: i64 threads 1 blocks %block: i64 < 1:i64
         body {{ parallel %t: i64 < 1:i64 {{\n{} store @out[0:i64] = {counted} }} }}",
        writer.text
    )
}

/// Numbers that are wrong in a program that was right.
fn spoil(program: &mut Program, random: &[u8]) {
    fn list(statements: &mut [Stmt], random: &mut impl Iterator<Item = u8>) {
        for stmt in statements {
            let byte = random.next().unwrap_or(255);
            let var = Var(u32::from(byte) * 3);
            if byte < 40 {
                match stmt {
                    Stmt::Let { var: defined, .. } if byte < 10 => *defined = var,
                    Stmt::Let { operands, .. } if byte < 15 => operands.clear(),
                    Stmt::Let { operands, .. } => {
                        operands.iter_mut().for_each(|operand| *operand = Operand::Var(var))
                    }
                    Stmt::Load { memory, .. } | Stmt::Store { memory, .. } if byte < 20 => {
                        *memory = MemoryId(byte.into());
                    }
                    Stmt::Load { vars, .. } if byte < 30 => vars.clear(),
                    Stmt::Load { index, .. } | Stmt::Store { index, .. } => *index = Operand::Var(var),
                    Stmt::If { condition, .. } => *condition = Operand::Var(var),
                    Stmt::For { end, .. } => *end = Operand::Var(var),
                    Stmt::While { carried, .. } => carried.clear(),
                    Stmt::Parallel { workers, .. } if byte < 15 => *workers = Workers::Warps,
                    Stmt::Parallel { workers, .. } if byte < 20 => *workers = Workers::Lanes,
                    Stmt::Parallel { extent, .. } => *extent = Operand::Var(var),
                    Stmt::Atomic { memory, .. } if byte < 20 => *memory = MemoryId(byte.into()),
                    Stmt::Atomic { operands, .. } | Stmt::Collective { operands, .. } if byte < 25 => {
                        operands.clear();
                    }
                    Stmt::Atomic { op, .. } => *op = AtomicOp::ALL[usize::from(byte) % AtomicOp::ALL.len()],
                    Stmt::Collective { op, .. } => {
                        *op = CollectiveOp::ALL[usize::from(byte) % CollectiveOp::ALL.len()];
                    }
                    _ => {
                        *stmt = Stmt::Sync {
                            scope: if byte.is_multiple_of(2) { Scope::Block } else { Scope::Warp },
                        }
                    }
                }
            }
            for child in stmt.children_mut() {
                list(child, random);
            }
        }
    }
    let mut random = random.iter().copied().cycle().take(100_000);
    list(&mut program.prologue, &mut random);
    list(&mut program.body, &mut random);
    if random.next() == Some(0) {
        program.blocks = Operand::Var(Var(u32::MAX));
    }
}

/// Does everything that can be done to a program; it may refuse, but not panic.
fn do_everything(program: &Program) {
    let _ = program.to_string();
    let _ = program.key_text();
    let _ = program.blocks_for(&scalars(5));
    let _ = plan(program, 1 << 16);
    let ranges = ranges(program);
    let _ = Intervals::of(program, &ranges);
    let _ = Uniformity::of(program);
    let mut other = narrow(program, &ranges);
    mark_exact(&mut other, &ranges);
    settle(&mut other, &ranges);
    vectorise(&mut other, &VectorOptions::default());
    eliminate_dead(&mut other);
    drop_spare_vars(&mut other);
    let _ = check(program);
    let options = Options { steps: 10_000, ..Options::default() };
    let _ = simulate(program, &mut memories(), &scalars(5), &options);
}

/// A target that has compare-and-exchange, and as few other atomic operations as there are.
const BARE: Target = Target {
    capabilities: Capabilities {
        atomics: Atomics { wide: WideAtomics::Base, small: false, float_add: false, float_min_max: false },
        ..Capabilities::ALL
    },
    ..Target::ALL
};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_are_well_formed(bytes in bytes()) {
        let program = program(&bytes);
        prop_assert!(check(&program).is_ok(), "{:?}\n{program}", check(&program));
    }

    #[test]
    fn text_reads_back_exactly(bytes in bytes()) {
        let program = program(&bytes);
        let text = program.to_string();
        let again = parse(&text);
        prop_assert_eq!(again.as_ref().map(ToString::to_string), Ok(text));
        prop_assert_eq!(again, Ok(program));
    }

    #[test]
    fn the_key_does_not_depend_on_names_and_comments(bytes in bytes()) {
        let program = program(&bytes);
        let key = program.key_text();
        let mut renamed = program.clone();
        renamed.vars.iter_mut().for_each(|info| info.name = format!("other_{}", info.name));
        renamed.memories.iter_mut().for_each(|memory| memory.name = format!("other_{}", memory.name));
        renamed.body.retain(|stmt| !matches!(stmt, Stmt::Comment(_)));
        renamed.add_var(ScalarType::F32, "spare");
        prop_assert_eq!(&renamed.key_text(), &key);
        // The key is a program too, and the same one.
        let from_key = parse(&key).unwrap();
        prop_assert_eq!(from_key.key_text(), key);
        prop_assert!(check(&from_key).is_ok());
    }

    #[test]
    fn passes_keep_the_meaning(bytes in bytes(), n in 0i64..1000) {
        let program = program(&bytes);
        let narrowed = narrow(&program, &ranges(&program));
        assert_same(&program, &narrowed, n, "narrow");
        let mut vectors = program.clone();
        vectorise(&mut vectors, &VectorOptions::default());
        assert_same(&program, &vectors, n, "vectorise");
        let mut alive = program.clone();
        eliminate_dead(&mut alive);
        assert_same(&program, &alive, n, "eliminate_dead");
        let mut legal = program.clone();
        prop_assert_eq!(legalise(&mut legal, &BARE), Ok(()));
        assert_same(&program, &legal, n, "legalise");
        let mut exact = program.clone();
        mark_exact(&mut exact, &ranges(&program));
        assert_same(&program, &exact, n, "mark_exact");
        let mut all = narrowed;
        mark_exact(&mut all, &ranges(&program));
        vectorise(&mut all, &VectorOptions::default());
        eliminate_dead(&mut all);
        drop_spare_vars(&mut all);
        assert_same(&program, &all, n, "all passes");
    }

    #[test]
    fn settling_keeps_the_meaning(bytes in bytes(), n in 0i64..1000) {
        let program = program(&bytes);
        let Some(&Param::Scalar(var)) = program.params.get(1) else { unreachable!() };
        let mut exactly = ranges(&program);
        exactly.insert(var, (n.into(), n.into()));
        assert_settled_same(&program, n, &exactly);
        let settled = assert_settled_same(&program, n, &ranges(&program));
        // Again, with what the first time made of it; and before the passes that come after it.
        let mut again = settled.clone();
        settle(&mut again, &ranges(&program));
        prop_assert!(check(&again).is_ok(), "{:?}\n{again}", check(&again));
        if again.params == program.params {
            assert_same(&program, &again, n, "settle, twice");
        }
        if settled.params == program.params {
            let mut all = narrow(&settled, &ranges(&program));
            mark_exact(&mut all, &ranges(&program));
            vectorise(&mut all, &VectorOptions::default());
            eliminate_dead(&mut all);
            drop_spare_vars(&mut all);
            assert_same(&program, &all, n, "settle and all passes");
        }
    }

    #[test]
    fn what_is_proved_holds(bytes in proptest::collection::vec(any::<u8>(), 20..120)) {
        let text = small_integers(&bytes);
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut settled = program.clone();
        settle(&mut settled, &BTreeMap::from([(Var(0), (0, 6)), (Var(1), (1, 4))]));
        for (a, b) in (0..=6i64).flat_map(|a| (1..=4i64).map(move |b| (a, b))) {
            let run = |program: &Program| {
                let mut memories = [SimMemory::unwritten(8)];
                simulate(program, &mut memories, &[a.into(), b.into()], &Options::default()).map(|_| memories)
            };
            let (before, after) = (run(&program), run(&settled));
            prop_assert!(before.is_ok() && before == after, "a = {a}, b = {b}\n{program}\n{settled}");
        }
    }

    #[test]
    fn planned_memory_keeps_the_meaning(bytes in bytes(), n in 0i64..1000) {
        let program = program(&bytes);
        assert_same(&program, &overlay(&program), n, "overlay");
    }

    #[test]
    fn values_are_within_their_bounds(bytes in bytes(), n in 0i64..1000) {
        let program = program(&bytes);
        let checked = with_bounds_checked(&program, &Intervals::of(&program, &ranges(&program)));
        if let Some((_, failures)) = run(&checked, n) {
            prop_assert_eq!(failures, 0, "{}", checked);
        }
    }

    #[test]
    fn broken_programs_are_refused_without_panic(bytes in bytes(), random in proptest::collection::vec(any::<u8>(), 1..200)) {
        let mut program = program(&bytes);
        spoil(&mut program, &random);
        do_everything(&program);
    }

    #[test]
    fn broken_text_is_refused_without_panic(
        bytes in bytes(),
        changes in proptest::collection::vec((any::<u16>(), 0usize..24, any::<char>()), 1..6),
    ) {
        const PIECES: [&str; 23] = [
            "{", "}", "%", "@", ":", "..", "load", "next", "yield", "i64", "%x.4", "%v", "-", "nan:", "9999999999999",
            "if", "else", "parallel", "sync", "kernel", ",", "//", "\n",
        ];
        let mut text = program(&bytes).to_string();
        for (position, what, character) in changes {
            let mut at = usize::from(position) % (text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match PIECES.get(what) {
                Some(piece) if position % 2 == 0 => text.insert_str(at, piece),
                Some(piece) => {
                    let end = text.len().min(at + piece.len());
                    if text.is_char_boundary(end) {
                        text.replace_range(at..end, piece);
                    }
                }
                None => text.insert(at, character),
            }
        }
        if let Ok(program) = parse(&text) {
            let again = parse(&program.to_string());
            prop_assert_eq!(again.as_ref(), Ok(&program), "{}", program);
            do_everything(&program);
        }
    }
}

#[test]
fn most_random_programs_run() {
    // The other properties say nothing of programs that race.
    let mut state = 1u64;
    let mut good = 0;
    for _ in 0..200 {
        let mut bytes = Vec::new();
        for _ in 0..150 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            bytes.push((state >> 33) as u8);
        }
        good += usize::from(run(&program(&bytes), 100).is_some());
    }
    assert!(good > 150, "{good} of 200");
}
