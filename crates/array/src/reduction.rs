//! A fold as skeletons want it: with a neutral element.
//!
//! Users give a fold an initial value, which counts once. Skeletons start every lane and every chunk of a row from a
//! neutral element, which must not change a result however often it is combined. If the initial value is
//! not known to be neutral, the elements are folded under "present or absent" instead, where absent is neutral, and
//! the initial value is combined with the result at the end.

use crate::fuser::Elements;
use crate::lower::Heard;
use pumice_scalar::{Constant, Function, Op, ScalarType, Term, Variable, branch, function};

/// A reduction by a skeleton, and the function of a result before it is written.
#[derive(Clone)]
pub(crate) struct Reduction {
    /// The scalar types that are folded.
    pub types: Vec<ScalarType>,
    /// The element at (row, column).
    pub elements: Function,
    /// An associative operator.
    pub operator: Function,
    /// Its neutral element, from no parameters.
    pub neutral: Function,
    /// The element of the result, from the folded scalars.
    pub finish: Function,
}

impl Reduction {
    /// The fold of these elements by an operator, from an initial value if there is one. Where floats need not be exact (`fast_math`),
    /// nothing may depend on a NaN.
    pub(crate) fn new(
        elements: Elements,
        operator: Function,
        initial: Option<Function>,
        fast_math: bool,
    ) -> Reduction {
        let types = operator.result_types();
        let Elements { function: all, loose } = elements;
        let harmless = match &initial {
            Some(initial) => operator.absorbs(initial).then(|| initial.clone()),
            None if fast_math => operator.neutral().map(|neutral| constants(&neutral)),
            None => operator.neutral_but_for_nan().map(|neutral| constants(&neutral)),
        };
        if let Some(initial) = harmless {
            let elements = match loose {
                false => all,
                true => function(all.parameters(), |index| {
                    let element = instantiate(&all, index);
                    let (present, value) = (element[0], &element[1..]);
                    let neutral = instantiate(&initial, &[]);
                    value.iter().zip(neutral).map(|(a, b)| choose(present, a, &b)).collect()
                }),
            };
            let finish = function(&types, <[Term]>::to_vec);
            return Reduction { types, elements, operator, neutral: initial, finish };
        }
        match loose {
            true => Reduction::of_flagged(all, operator, initial),
            false => Reduction::of_present(&all, operator, initial),
        }
    }

    /// The fold of elements each of which begins with a flag whether it is there.
    pub(crate) fn of_flagged(elements: Function, operator: Function, initial: Option<Function>) -> Reduction {
        let types = operator.result_types();
        let with_flag: Vec<ScalarType> = [&[ScalarType::Bool], &types[..]].concat();
        let twice = [&with_flag[..], &with_flag].concat();
        Reduction {
            elements,
            operator: function(&twice, |values| {
                let (one, other) = values.split_at(with_flag.len());
                combine(&operator, one, other)
            }),
            neutral: function(&[], |_| {
                flagged(false, types.iter().map(|ty| Constant::zero(*ty).into()).collect())
            }),
            finish: function(&with_flag, |value| match &initial {
                None => value[1..].to_vec(),
                Some(initial) => {
                    let initial = flagged(true, instantiate(initial, &[]));
                    combine(&operator, &initial, value)[1..].to_vec()
                }
            }),
            types: with_flag,
        }
    }

    /// The fold of elements that are all present, begun with an absent one.
    pub(crate) fn of_present(
        elements: &Function,
        operator: Function,
        initial: Option<Function>,
    ) -> Reduction {
        let present = function(elements.parameters(), |index| flagged(true, instantiate(elements, index)));
        Reduction::of_flagged(present, operator, initial)
    }

    /// The reduction of options, which begin with a flag, to one: that of the values that are present, or none if none is.
    pub(crate) fn of_options(elements: Function, operator: Function) -> Reduction {
        let reduction = Reduction::of_flagged(elements, operator, None);
        Reduction { finish: function(&reduction.types, <[Term]>::to_vec), ..reduction }
    }

    /// The scan of these elements by an operator, from an initial value if there is one. Every result of a scan has its
    /// elements in it just once, so the skeletons start from a neutral element and nothing else. From the right,
    /// the operator's sides are exchanged, and the element that comes first in the order of the scan is on its left.
    pub(crate) fn scanned(
        elements: Function,
        operator: &Function,
        initial: Option<&Function>,
        from_right: bool,
    ) -> Reduction {
        let types = operator.result_types();
        let half = types.len();
        let operator = match from_right {
            false => operator.clone(),
            true => function(operator.parameters(), |terms| {
                instantiate(operator, &[&terms[half..], &terms[..half]].concat())
            }),
        };
        if let Some(neutral) = operator.neutral() {
            let is_neutral = |initial: &&Function| initial.constants().as_ref() != Some(&neutral);
            let finish = match initial.filter(is_neutral) {
                None => function(&types, <[Term]>::to_vec),
                Some(initial) => function(&types, |value| {
                    instantiate(&operator, &[&instantiate(initial, &[])[..], value].concat())
                }),
            };
            return Reduction { types, elements, operator, neutral: constants(&neutral), finish };
        }
        Reduction::of_present(&elements, operator, initial.cloned())
    }

    /// Adapts listeners to the results: they hear reduced values, which are finished first.
    pub(crate) fn heard(&self, heard: &[Heard]) -> Vec<Heard> {
        let parameters = [&[ScalarType::I64][..], &self.types].concat();
        let finish = function(&parameters, |terms| {
            let value = instantiate(&self.finish, &terms[1..]);
            std::iter::once(terms[0]).chain(value).collect()
        });
        let finished = Elements { function: finish, loose: false };
        heard.iter().map(|heard| heard.behind(finished.clone())).collect()
    }

    /// Fuses several folds to one of tuples. Each of them finishes its own results.
    pub(crate) fn together<'a>(parts: impl Iterator<Item = &'a Reduction> + Clone) -> Reduction {
        let types: Vec<ScalarType> = parts.clone().flat_map(|part| part.types.iter().copied()).collect();
        let index = [ScalarType::I64; 2];
        let joined = |functions: Vec<&Function>, parameters: &[ScalarType]| {
            function(parameters, |terms| functions.iter().flat_map(|one| instantiate(one, terms)).collect())
        };
        Reduction {
            elements: joined(parts.clone().map(|part| &part.elements).collect(), &index),
            operator: function(&[&types[..], &types].concat(), |terms| {
                let (one, other) = terms.split_at(types.len());
                let mut first = 0;
                let mut all = Vec::new();
                for part in parts.clone() {
                    let mine = first..first + part.types.len();
                    first = mine.end;
                    let arguments = [&one[mine.clone()], &other[mine]].concat();
                    all.extend(instantiate(&part.operator, &arguments));
                }
                all
            }),
            neutral: joined(parts.map(|part| &part.neutral).collect(), &[]),
            finish: function(&types, <[Term]>::to_vec),
            types,
        }
    }
}

fn choose(condition: Term, a: &Term, b: &Term) -> Term {
    Term::apply(Op::Select, a.ty(), &[condition, *a, *b])
}

fn flagged(present: bool, value: Vec<Term>) -> Vec<Term> {
    std::iter::once(Constant::from(present).into()).chain(value).collect()
}

/// The two values combined where both are present, the present one where one is. Each begins with its flag.
fn combine(operator: &Function, one: &[Term], other: &[Term]) -> Vec<Term> {
    let ([has_one, one @ ..], [has_other, other @ ..]) = (one, other) else { return Vec::new() };
    let either: Vec<Term> = one.iter().zip(other).map(|(a, b)| choose(*has_one, a, b)).collect();
    let both = has_one.binary(Op::And, *has_other);
    let combined = instantiate(operator, &[one, other].concat());
    // An absent value is zero, which the operator may not accept: it could fail, or loop for ever.
    let value = match operator.is_total() {
        true => combined.iter().zip(&either).map(|(a, b)| choose(both, a, b)).collect(),
        false => branch(both, &combined, &either),
    };
    std::iter::once(has_one.binary(Op::Or, *has_other)).chain(value).collect()
}

/// Instantiates a function over other arguments. Everything else that it mentions stays as it is.
pub(crate) fn instantiate(of: &Function, arguments: &[Term]) -> Vec<Term> {
    of.instantiate(
        &mut |variable, ty| match variable {
            Variable::Parameter(number) => match arguments.get(number as usize) {
                Some(argument) if argument.ty() == ty => *argument,
                _ => Term::invalid(ty, "a function does not fit the arrays that it is applied to"),
            },
            other => Term::variable(other, ty),
        },
        // SAFETY: the same load, at the same index and under the same checks, of the function that is written again.
        &mut |key, ty, index, guarded| unsafe { Term::load(key, ty, index, guarded) },
        &mut Term::element,
    )
}

/// A function of nothing that gives an element.
fn constants(element: &[Constant]) -> Function {
    function(&[], |_| element.iter().map(|constant| (*constant).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_scalar::{Exp, Lift};

    fn operator(f: impl Fn(Exp<f32>, Exp<f32>) -> Exp<f32>) -> Function {
        function(&[ScalarType::F32; 2], |terms| f(Exp::from_term(terms[0]), Exp::from_term(terms[1])).terms())
    }

    fn initial(value: f32) -> Function {
        function(&[], |_| vec![Constant::from(value).into()])
    }

    #[test]
    fn what_counts_once_however_often_it_is_there_needs_no_flag() {
        let sum = operator(|a, b| a + b);
        let product = operator(|a, b| a * b);
        let largest = operator(|a, b| a.max(b));
        for (operator, value, expected) in [
            (&sum, 0.0, true),
            (&sum, -0.0, true),
            (&sum, 1.0, false),
            (&product, 1.0, true),
            (&product, 0.5, false),
            (&largest, f32::NEG_INFINITY, true),
            (&largest, 3.0, true),
            (&operator(|a, b| a + b + 1.0), 0.0, false),
            (&operator(|a, b| b + a * 0.0), 0.0, false),
        ] {
            assert_eq!(operator.absorbs(&initial(value)), expected, "{operator} from {value}");
        }
    }

    #[test]
    fn extrema_begin_with_nan_only_where_floats_are_exact() {
        let elements = || Elements {
            function: function(&[ScalarType::I64; 2], |index| vec![index[1].cast(ScalarType::F32)]),
            loose: false,
        };
        let least = operator(|a, b| a.min(b));
        let exact = Reduction::new(elements(), least.clone(), None, false);
        assert_eq!(exact.types, [ScalarType::F32]);
        assert_eq!(exact.neutral.constants(), Some(vec![f32::NAN.into()]));
        let fast = Reduction::new(elements(), least, None, true);
        assert_eq!(fast.types, [ScalarType::Bool, ScalarType::F32]);
    }
}
