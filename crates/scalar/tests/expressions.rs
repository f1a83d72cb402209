//! The graph keeps the value of every expression, computes what is shared once, and each thing where it is needed.

use proptest::prelude::*;
use pumice_scalar::{
    CheckFailure, Constant, Environment, Evaluator, Exp, Function, Item, MAX_NESTING, Node, Op, ScalarType,
    Schedule, Variable, cond, constant, function, while_,
};
use std::cell::Cell;
use trees::{PARAMETERS, Tree, tree, value};

mod trees;

struct Nothing;

impl Environment for Nothing {
    fn variable(&self, _: Variable) -> Option<Constant> {
        None
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

fn evaluate(function: &Function, arguments: &[Constant]) -> Result<Vec<Constant>, CheckFailure> {
    Evaluator::new(function).expect("it is not too deep").evaluate(&Nothing, arguments)
}

/// Evaluates a tree on these arguments.
fn value_of(tree: &Tree, arguments: &[Constant]) -> Constant {
    match tree {
        Tree::Parameter(number) => arguments[*number],
        Tree::Constant(constant) => *constant,
        Tree::Apply(op, ty, operands) => {
            let operands: Vec<Constant> =
                operands.iter().map(|operand| value_of(operand, arguments)).collect();
            op.evaluate(*ty, &operands)
        }
        Tree::If(c, a, b) => value_of(if value_of(c, arguments).is_true() { a } else { b }, arguments),
        Tree::Repeat(start, step, times) => {
            let times = value_of(times, arguments).as_integer().unwrap();
            let step = value_of(step, arguments);
            (0..times).fold(value_of(start, arguments), |sum, _| Op::Add.evaluate(sum.ty(), &[sum, step]))
        }
    }
}

/// Floats are equal if they are the same or both are not numbers.
fn same(a: Constant, b: Constant) -> bool {
    a == b || a.as_float().is_some_and(f64::is_nan) && b.as_float().is_some_and(f64::is_nan)
}

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` may ask for more.
        cases: ProptestConfig::default().cases.max(1500),
        ..ProptestConfig::default()
    })]

    #[test]
    fn simplification_and_placement_keep_the_value(
        tree in proptest::sample::select(PARAMETERS.to_vec()).prop_flat_map(|ty| tree(ty, 4)),
        arguments in PARAMETERS.map(value),
    ) {
        let built = function(&PARAMETERS, |terms| vec![tree.term(terms)]);
        prop_assert_eq!(built.mistake(), None);
        let found = evaluate(&built, &arguments).expect("nothing here can fail")[0];
        let expected = value_of(&tree, &arguments);
        prop_assert!(same(found, expected), "{:?} became {}: {} is not {}", tree, built, found, expected);
    }
}

fn unary(f: impl FnOnce(Exp<f32>) -> Exp<f32>) -> Function {
    function(&[ScalarType::F32], |terms| vec![f(Exp::from_term(terms[0])).term()])
}

fn count(function: &Function, op: Op) -> usize {
    function
        .nodes()
        .iter()
        .filter(|node| matches!(node, Node::Apply { op: found, .. } if *found == op))
        .count()
}

#[test]
fn what_is_shared_is_there_once() {
    let shared = unary(|x| {
        let y = x.exp();
        y * y + (x.exp() - 1.0) * x.exp()
    });
    assert_eq!(count(&shared, Op::Exp), 1);
    // 2^30 paths, 31 nodes.
    let doubled = unary(|x| (0..30).fold(x, |y, _| y + y));
    assert_eq!(count(&doubled, Op::Add), 30);
}

#[test]
fn constants_gather_in_the_smaller_and_the_larger_of_two() {
    let ops = |f: fn(Exp<i64>) -> Exp<i64>| {
        let function = function(&[ScalarType::I64], |terms| vec![f(Exp::from_term(terms[0])).term()]);
        let of = |op| count(&function, op);
        let value = |x: i64| evaluate(&function, &[x.into()]).map(|values| values[0]);
        (of(Op::Min), of(Op::Max), [value(1), value(4), value(9)].map(|value| value.unwrap().as_integer()))
    };
    assert_eq!(ops(|x| x.min(7).min(5)), (1, 0, [Some(1), Some(4), Some(5)]));
    assert_eq!(ops(|x| x.min(3).min(5)), (1, 0, [Some(1), Some(3), Some(3)]));
    assert_eq!(ops(|x| x.max(3).max(5)), (0, 1, [Some(5), Some(5), Some(9)]));
    assert_eq!(ops(|x| x.max(3).min(5)), (1, 1, [Some(3), Some(4), Some(5)]));
    // What is the same is one node.
    let same = function(&[ScalarType::I64], |terms| {
        let x: Exp<i64> = Exp::from_term(terms[0]);
        vec![(x.min(32) - x.min(64).min(32)).term()]
    });
    assert_eq!(same.constants(), Some(vec![0i64.into()]));
}

#[test]
fn the_length_of_a_stretch_does_not_depend_on_where_it_begins() {
    let length = |f: fn(Exp<i64>, Exp<i64>) -> Exp<i64>| {
        function(&[ScalarType::I64; 2], |terms| {
            vec![f(Exp::from_term(terms[0]), Exp::from_term(terms[1])).term()]
        })
    };
    for stretch in [length(|x, y| (x + y) - x), length(|x, y| (y + x) - x)] {
        assert_eq!(count(&stretch, Op::Add) + count(&stretch, Op::Sub), 0, "{stretch}");
        assert_eq!(evaluate(&stretch, &[i64::MAX.into(), 5i64.into()]), Ok(vec![5i64.into()]));
    }
    assert_eq!(length(|x, _| (x + 7) - x).constants(), Some(vec![7i64.into()]));
    // Sums of floats are rounded.
    let lost = function(&[ScalarType::F32; 2], |terms| {
        let (x, y): (Exp<f32>, Exp<f32>) = (Exp::from_term(terms[0]), Exp::from_term(terms[1]));
        vec![((x + y) - x).term()]
    });
    assert_eq!(evaluate(&lost, &[1e10f32.into(), 1f32.into()]), Ok(vec![0f32.into()]));
}

/// The block (0 is the outermost) in which an operation is computed.
fn place(function: &Function, op: Op) -> Vec<usize> {
    let schedule = Schedule::new(function.nodes(), function.results(), |_| false, MAX_NESTING);
    let schedule = schedule.expect("it is not too deep");
    let is_it = |item: &Item| match item {
        Item::Compute(id) => {
            matches!(&function.nodes()[id.0 as usize], Node::Apply { op: found, .. } if *found == op)
        }
        _ => false,
    };
    (0..schedule.blocks.len()).filter(|block| schedule.blocks[*block].iter().any(is_it)).collect()
}

#[test]
fn values_are_computed_in_the_innermost_block_that_dominates_their_uses() {
    let one = unary(|x| cond(x.gt(0.0), || x.exp(), || x));
    assert_ne!(place(&one, Op::Exp), [0], "needed by one branch: in that branch");
    let both = unary(|x| cond(x.gt(0.0), || x.exp() + 1.0, || x.exp() - 1.0));
    assert_eq!(place(&both, Op::Exp), [0], "needed by both: before");
    let after = unary(|x| cond(x.gt(0.0), || x.exp() + 1.0, || x) + x.exp());
    assert_eq!(place(&after, Op::Exp), [0], "needed after: before");
    let invariant = unary(|x| while_(x, |y| y.lt(10.0), |y| y + x.exp()));
    assert_eq!(place(&invariant, Op::Exp), [0], "does not change in the loop: before it");
    let varying = unary(|x| while_(x, |y| y.lt(10.0), |y| y + y.exp()));
    assert_ne!(place(&varying, Op::Exp), [0], "changes in the loop: in it");
}

#[test]
fn a_loop_used_in_another_keeps_its_own_variables() {
    // The first loop is written outside the second, and its value is needed only inside.
    let nested = function(&[ScalarType::I32; 2], |terms| {
        let (x, n): (Exp<i32>, Exp<i32>) = (Exp::from_term(terms[0]), Exp::from_term(terms[1]));
        let (inner, _) = while_((x, constant(0i32)), |(_, k)| k.lt(3), |(y, k)| (y + 12 / n, k + 1));
        let (outer, _) = while_((x, constant(0i32)), |(_, k)| k.lt(n), |(y, k)| (y + inner, k + 1));
        vec![outer.term()]
    });
    assert_eq!(evaluate(&nested, &[1i32.into(), 4i32.into()]), Ok(vec![(1 + 4 * (1 + 3 * 3)).into()]));
    assert_eq!(
        evaluate(&nested, &[1i32.into(), 0i32.into()]),
        Ok(vec![1i32.into()]),
        "the first is never needed"
    );
}

#[test]
fn a_lazy_branch_that_is_not_taken_does_not_fail() {
    let guarded = function(&[ScalarType::I32], |terms| {
        let x: Exp<i32> = Exp::from_term(terms[0]);
        vec![cond(x.ne(0), || 100 / x, || constant(-1)).term()]
    });
    assert_eq!(evaluate(&guarded, &[0i32.into()]), Ok(vec![(-1i32).into()]));
    assert_eq!(evaluate(&guarded, &[5i32.into()]), Ok(vec![20i32.into()]));
    let eager = function(&[ScalarType::I32], |terms| {
        let x: Exp<i32> = Exp::from_term(terms[0]);
        vec![x.ne(0).select(100 / x, constant(-1)).term()]
    });
    let failure = evaluate(&eager, &[0i32.into()]).expect_err("both sides are computed");
    let message = failure.site.message(failure.index, failure.bound);
    assert!(message.starts_with("integer division by zero in division at "), "{message}");
    assert!(message.contains("expressions.rs:"), "{message}");
}

#[test]
fn an_expression_outside_its_function_is_a_mistake_and_no_other_value() {
    let escaped: Cell<Option<Exp<f32>>> = Cell::new(None);
    let first = unary(|x| {
        escaped.set(Some(x * 2.0));
        x
    });
    assert_eq!(first.mistake(), None);
    let stale = escaped.get().unwrap();
    let second = unary(|x| x * 3.0 + stale);
    assert!(second.mistake().unwrap().contains("outside the function"), "{second}");
    let from_a_loop: Cell<Option<Exp<f32>>> = Cell::new(None);
    let third = unary(|x| {
        let end = while_(
            x,
            |y| y.lt(1.0),
            |y| {
                from_a_loop.set(Some(y));
                y + 1.0
            },
        );
        end + from_a_loop.get().unwrap()
    });
    assert!(third.mistake().unwrap().contains("loop"), "{third}");
}

#[test]
fn commuting_is_proved_on_the_graph() {
    let f32x2 = [ScalarType::F32; 2];
    let binary = |f: fn(Exp<f32>, Exp<f32>) -> Exp<f32>| {
        function(&f32x2, |t| vec![f(Exp::from_term(t[0]), Exp::from_term(t[1])).term()]).commutes()
    };
    assert!(
        binary(|a, b| a + b)
            && binary(|a, b| a * b)
            && binary(|a, b| a.min(b))
            && binary(|a, b| a * b + (b + a))
    );
    assert!(!binary(|a, b| a - b) && !binary(|a, _| a) && !binary(|a, b| a.lt(b).select(a, b)));
    let pairs = |f: fn([Exp<i64>; 4]) -> [Exp<i64>; 2]| {
        function(&[ScalarType::I64; 4], |t| {
            f([0, 1, 2, 3].map(|k| Exp::from_term(t[k]))).map(|result| result.term()).to_vec()
        })
        .commutes()
    };
    assert!(pairs(|[s, m, t, n]| [s + t, m.max(n)]));
    assert!(!pairs(|[a, b, c, d]| [a * c, a * d + b]), "affine maps do not commute");
}

#[test]
fn large_functions_build_in_linear_time_and_without_recursion() {
    let start = std::time::Instant::now();
    let large = unary(|x| (0..50_000).fold(x, |y, k| y * x + k as f32));
    assert!(large.nodes().len() > 100_000);
    assert_eq!(evaluate(&large, &[0.0f32.into()]).unwrap().len(), 1);
    // A second or less when optimised; a graph that was copied at every step would take hours.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Runs `f` in a thread with the stack that Rust gives to threads.
fn in_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(f).expect("a thread starts");
    thread.join().expect("it neither panics nor runs out of stack");
}

fn integers(f: impl FnOnce(Exp<i32>) -> Exp<i32>) -> Function {
    function(&[ScalarType::I32], |terms| vec![f(Exp::from_term(terms[0])).term()])
}

#[test]
fn a_chain_of_pure_conditions_may_have_any_length() {
    in_a_small_stack(|| {
        let cases = integers(|x| {
            (0..20_000).rev().fold(constant(-1), |rest, k| cond(x.eq(k), || constant(k * 3), || rest))
        });
        assert_eq!(cases.mistake(), None);
        for (x, expected) in [(0, 0), (63, 189), (64, 192), (19_999, 59_997), (20_000, -1)] {
            assert_eq!(evaluate(&cases, &[x.into()]), Ok(vec![Constant::from(expected)]));
        }
        assert_eq!(cases.to_string().parse(), Ok(cases));
    });
}

/// Divisions that are checked, each in a side of the condition before.
fn nested_divisions(levels: i32) -> Function {
    integers(|x| (0..levels).fold(x, |rest, k| cond(x.gt(k), || constant(100) / (rest - k), || constant(k))))
}

#[test]
fn conditions_that_must_be_nested_are_so_up_to_a_limit() {
    in_a_small_stack(|| {
        let most = nested_divisions(MAX_NESTING as i32);
        assert_eq!(most.mistake(), None);
        assert_eq!(evaluate(&most, &[0i32.into()]), Ok(vec![(MAX_NESTING as i32 - 1).into()]));
        for levels in [MAX_NESTING as i32 + 1, 20_000] {
            let deep = nested_divisions(levels);
            let mistake = deep.mistake().expect("it is too deep");
            assert!(mistake.contains("nested more than 200 deep"), "{mistake}");
            assert!(Evaluator::new(&deep).is_err());
            assert!(deep.to_string().contains("nested more than 200 deep"));
        }
    });
}

#[test]
fn what_is_speculated_cannot_fail() {
    // Pure conditions first, then one that guards a division: it stays nested, below the others.
    let mixed = integers(|x| {
        let guarded = cond(x.ne(0), || constant(100) / x, || constant(7));
        (0..100).fold(guarded, |rest, k| cond(x.gt(1000 + k), || constant(k), || rest))
    });
    assert_eq!(evaluate(&mixed, &[0i32.into()]), Ok(vec![7i32.into()]));
    assert_eq!(evaluate(&mixed, &[5i32.into()]), Ok(vec![20i32.into()]));
}

#[test]
fn scheduling_looks_at_new_nodes_only() {
    let large = unary(|x| (0..10_000).fold(x, |y, k| y * x + k as f32));
    let asked = Cell::new(0);
    let last = large.results()[0];
    let is_available = |id| {
        asked.set(asked.get() + 1);
        id != last
    };
    let schedule = Schedule::new(large.nodes(), large.results(), is_available, MAX_NESTING).unwrap();
    assert_eq!(schedule.blocks, [vec![Item::Compute(last)]]);
    assert!(asked.get() <= 3, "{}", asked.get());
}
