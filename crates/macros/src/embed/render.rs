//! Rendering of steps as code of the scalar language.
//!
//! Assigning to a variable is `let` of the same name. A branch or loop is an expression for the tuple of the variables that it changes and
//! that are read later. If one side of a branch leaves, the rest is written into its other side; if both go on and one of them may
//! leave, a flag for each way to leave is passed on beside the variables.

use super::steps::{Code, Exit, Loop, Step, Var, Vars, assigned, completes, exits, loop_reads, reads};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;

/// Maximum number of elements of a tuple that is an expression.
const LARGEST_TUPLE: usize = 12;

/// Writes steps, given the names of the variables.
pub struct Renderer<'a> {
    pub names: &'a [Ident],
}

/// Values that a sequence of steps passes on at its end: a flag for each exit that does not end here, and variables.
struct Frame<'a> {
    flags: Vec<Exit>,
    vars: Vec<Var>,
    /// The loop whose round the sequence is.
    round_of: Option<&'a Loop>,
}

impl Renderer<'_> {
    /// Writes the body of a function, which ends by returning this variable, with these that have values at its beginning.
    pub fn function(&self, steps: &[Step], result: Var, parameters: Vars) -> TokenStream {
        let frame = Frame { flags: Vec::new(), vars: vec![result], round_of: None };
        self.sequence(&steps.iter().collect::<Vec<_>>(), &frame, parameters)
    }

    /// Writes steps that nothing leaves and that change no variable from before, and a value after them.
    pub fn closed(&self, steps: &[Step], result: Var) -> TokenStream {
        self.function(steps, result, Vars::new())
    }

    /// Writes steps up to the end of the frame. Variables that are not in `set` have no value yet.
    fn sequence(&self, steps: &[&Step], frame: &Frame<'_>, mut set: Vars) -> TokenStream {
        let mut written = TokenStream::new();
        for (position, step) in steps.iter().enumerate() {
            let rest = &steps[position + 1..];
            match step {
                Step::Declare(var) => {
                    set.remove(var);
                }
                Step::Set { var, part, ty, value } => {
                    written.extend(self.assignment(*var, part, ty.as_ref(), value));
                    set.insert(*var);
                }
                Step::Item(item) => written.extend(item.clone()),
                Step::Exit(exit) => {
                    written.extend(self.end(Some(*exit), frame, set));
                    return written;
                }
                Step::Branch { condition, then, otherwise, span } => {
                    let condition = (&condition.tokens, *span);
                    if self.branch(condition, [then, otherwise], rest, frame, &mut set, &mut written) {
                        return written;
                    }
                }
                Step::Loop(looped) => {
                    if self.repetition(looped, rest, frame, &mut set, &mut written) {
                        return written;
                    }
                }
            }
        }
        written.extend(self.end(None, frame, set));
        written
    }

    /// Writes a branch, and returns whether the rest is written with it.
    fn branch(
        &self,
        (condition, span): (&TokenStream, Span),
        sides: [&Vec<Step>; 2],
        rest: &[&Step],
        frame: &Frame<'_>,
        set: &mut Vars,
        written: &mut TokenStream,
    ) -> bool {
        let leaving: BTreeSet<Exit> = sides.iter().flat_map(|side| exits(side)).collect();
        if !leaving.is_empty() && !sides.iter().all(|side| completes(side)) {
            let sides = sides.map(|side| {
                let steps: Vec<&Step> = side.iter().chain(rest.iter().copied()).collect();
                self.sequence(&steps, frame, set.clone())
            });
            written.extend(chosen(span, condition, &sides));
            return true;
        }
        let changed = sides.iter().flat_map(|side| assigned(side)).collect();
        let inner = self.inner_frame(leaving, changed, rest, frame, None);
        if inner.vars.is_empty() && inner.flags.is_empty() {
            return false;
        }
        let sides = sides.map(|side| self.sequence(&side.iter().collect::<Vec<_>>(), &inner, set.clone()));
        let (names, value) = (self.pattern(&inner), chosen(span, condition, &sides));
        written.extend(quote_spanned!(span=> let #names = #value;));
        set.extend(&inner.vars);
        if inner.flags.is_empty() {
            return false;
        }
        written.extend(self.after_flags(&inner.flags, &inner.flags, rest, frame, set.clone()));
        true
    }

    /// Writes a loop, and returns whether the rest is written with it.
    fn repetition(
        &self,
        looped: &Loop,
        rest: &[&Step],
        frame: &Frame<'_>,
        set: &mut Vars,
        written: &mut TokenStream,
    ) -> bool {
        let mut leaving = exits(&looped.body);
        leaving.remove(&Exit::Continue(looped.number));
        let own = Exit::Break(looped.number);
        let outwards: Vec<Exit> = leaving.iter().copied().filter(|exit| *exit != own).collect();
        let changed = &assigned(&looped.body) | &assigned(&looped.next);
        let inner = self.inner_frame(leaving, changed, rest, frame, Some(looped));
        written.extend(self.repeated(looped, &inner, set));
        set.extend(&inner.vars);
        if outwards.is_empty() {
            return false;
        }
        written.extend(self.after_flags(&inner.flags, &outwards, rest, frame, set.clone()));
        true
    }

    fn assignment(
        &self,
        var: Var,
        part: &TokenStream,
        ty: Option<&TokenStream>,
        value: &Code,
    ) -> TokenStream {
        let (name, value) = (&self.names[var], &value.tokens);
        if part.is_empty() {
            let ty = ty.map(|ty| quote!(: #ty));
            return quote!(let #name #ty = #value;);
        }
        quote!(let #name = { let mut #name = #name; #name #part = #value; #name };)
    }

    /// Returns the frame of a branch or loop: of the changed variables it passes on those that are read later.
    fn inner_frame<'a>(
        &self,
        leaving: BTreeSet<Exit>,
        changed: Vars,
        rest: &[&Step],
        outer: &Frame<'_>,
        round_of: Option<&'a Loop>,
    ) -> Frame<'a> {
        let mut needed = reads(rest.iter().copied());
        needed.extend(&outer.vars);
        needed.extend(outer.round_of.iter().flat_map(|looped| reads(&looped.next)));
        needed.extend(round_of.iter().flat_map(|looped| loop_reads(looped)));
        Frame {
            flags: leaving.into_iter().collect(),
            vars: (&changed & &needed).into_iter().collect(),
            round_of,
        }
    }

    /// Writes the value of a sequence that ends with this exit.
    fn end(&self, exit: Option<Exit>, frame: &Frame<'_>, set: Vars) -> TokenStream {
        if let (Some(looped), Some(exit)) = (frame.round_of, exit)
            && exit == Exit::Continue(looped.number)
        {
            return self.round_end(looped, frame, set);
        }
        let flags = frame.flags.iter().map(|flag| {
            let holds = Some(*flag) == exit;
            quote!(::pumice::embedding::literal(#holds))
        });
        let values = frame.vars.iter().map(|var| self.value(*var, &set));
        tuple(flags.chain(values).collect())
    }

    /// Writes the steps between two rounds.
    fn round_end(&self, looped: &Loop, frame: &Frame<'_>, set: Vars) -> TokenStream {
        let ended = Frame { flags: frame.flags.clone(), vars: frame.vars.clone(), round_of: None };
        let next = self.sequence(&looped.next.iter().collect::<Vec<_>>(), &ended, set);
        quote!({ #next })
    }

    fn value(&self, var: Var, set: &Vars) -> TokenStream {
        let name = &self.names[var];
        match set.contains(&var) {
            true => quote!(#name),
            false => quote!(::pumice::embedding::unset()),
        }
    }

    fn pattern(&self, frame: &Frame<'_>) -> TokenStream {
        let flags = (0..frame.flags.len()).map(flag);
        let names = flags.chain(frame.vars.iter().map(|var| self.names[*var].clone()));
        tuple(names.map(|name| quote!(#name)).collect())
    }

    fn repeated(&self, looped: &Loop, frame: &Frame<'_>, set: &Vars) -> TokenStream {
        let span = looped.span;
        let names = self.pattern(frame);
        let mut inside = set.clone();
        inside.extend(&frame.vars);
        let initial = self.end(
            None,
            &Frame { round_of: None, flags: frame.flags.clone(), vars: frame.vars.clone() },
            set.clone(),
        );
        let flags: Vec<Ident> = (0..frame.flags.len()).map(flag).collect();
        let goes_on = looped.condition.as_ref().map(|condition| &condition.tokens);
        let condition = match (flags.is_empty(), goes_on) {
            (true, Some(condition)) => quote!(#condition),
            (true, None) => quote!(::pumice::embedding::literal(true)),
            (false, Some(condition)) => {
                quote!(::pumice::embedding::and(!(#(#flags)|*), ::pumice::embedding::mark(), #condition))
            }
            (false, None) => quote!(!(#(#flags)|*)),
        };
        let steps: Vec<&Step> = looped.body.iter().chain(&looped.next).collect();
        let round = self.sequence(&steps, frame, inside);
        let repetition = Ident::new("repetition", Span::mixed_site());
        quote_spanned! {span=>
            let #names = {
                let (#repetition, #names) = ::pumice::embedding::repeat(#initial);
                #repetition.end(#condition, { #round })
            };
        }
    }

    /// Writes the code behind a part that may have been left: the way out for each flag of `outwards`, else the rest.
    fn after_flags(
        &self,
        flags: &[Exit],
        outwards: &[Exit],
        rest: &[&Step],
        frame: &Frame<'_>,
        set: Vars,
    ) -> TokenStream {
        let Some((first, others)) = outwards.split_first() else {
            return self.sequence(rest, frame, set);
        };
        let left = flags.iter().position(|exit| exit == first).map(flag);
        let sides =
            [self.end(Some(*first), frame, set.clone()), self.after_flags(flags, others, rest, frame, set)];
        chosen(Span::mixed_site(), &quote!(#left), &sides)
    }
}

fn flag(number: usize) -> Ident {
    format_ident!("left_{number}", span = Span::mixed_site())
}

fn chosen(span: Span, condition: &TokenStream, [then, otherwise]: &[TokenStream; 2]) -> TokenStream {
    quote_spanned!(span=> ::pumice::embedding::branch(#condition, ::pumice::embedding::mark(), { #then }, { #otherwise }))
}

/// Emits one value as it is, several as a tuple, many as a tuple of tuples.
fn tuple(mut values: Vec<TokenStream>) -> TokenStream {
    while values.len() > LARGEST_TUPLE {
        values = values.chunks(LARGEST_TUPLE).map(|part| tuple(part.to_vec())).collect();
    }
    match &values[..] {
        [value] => value.clone(),
        values => quote!((#(#values),*)),
    }
}
