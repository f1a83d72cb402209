//! Intermediate form of a function, as steps, between Rust's syntax and the scalar language.
//!
//! Variables are numbers, so no name hides another. Values have no effects: every assignment and every exit is a step of its own.

use proc_macro2::{Span, TokenStream};
use std::collections::BTreeSet;

/// A variable of the function.
pub type Var = usize;

/// A set of variables.
pub type Vars = BTreeSet<Var>;

/// A value without effects, in the scalar language, and the variables that it reads.
#[derive(Clone)]
pub struct Code {
    pub tokens: TokenStream,
    pub reads: Vars,
}

/// A way to leave a sequence of steps before its end. Values that are passed on are assigned to variables before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Return,
    /// Ends the loop of this number.
    Break(usize),
    /// Goes on with the next round of the loop of this number.
    Continue(usize),
}

#[derive(Clone)]
pub enum Step {
    /// Begins the life of a variable, without a value.
    Declare(Var),
    /// Assigns to a variable, or to the `part` of it (`.x`, `[0]`) that is written there.
    Set {
        var: Var,
        part: TokenStream,
        ty: Option<TokenStream>,
        value: Code,
    },
    Branch {
        condition: Code,
        then: Vec<Step>,
        otherwise: Vec<Step>,
        span: Span,
    },
    Loop(Loop),
    Exit(Exit),
    /// A constant of the function's own.
    Item(TokenStream),
}

#[derive(Clone)]
pub struct Loop {
    pub number: usize,
    /// The loop goes on while this holds; if there is none, until it is left.
    pub condition: Option<Code>,
    pub body: Vec<Step>,
    /// Steps after each round, also after one that is ended by `continue`.
    pub next: Vec<Step>,
    pub span: Span,
}

impl Code {
    pub fn new(tokens: TokenStream) -> Code {
        Code { tokens, reads: Vars::new() }
    }

    /// Creates the value of these tokens, which are made of other values.
    pub fn of(tokens: TokenStream, parts: &[&Code]) -> Code {
        let reads = parts.iter().flat_map(|part| part.reads.iter().copied()).collect();
        Code { tokens, reads }
    }
}

impl Step {
    pub fn set(var: Var, value: Code) -> Step {
        Step::Set { var, part: TokenStream::new(), ty: None, value }
    }
}

/// Collects the variables that the steps assign to, and those that are declared in them.
fn find_assigned(steps: &[Step], assigned: &mut Vars, declared: &mut Vars) {
    for step in steps {
        match step {
            Step::Declare(var) => {
                declared.insert(*var);
            }
            Step::Set { var, .. } => {
                assigned.insert(*var);
            }
            Step::Branch { then, otherwise, .. } => {
                find_assigned(then, assigned, declared);
                find_assigned(otherwise, assigned, declared);
            }
            Step::Loop(looped) => {
                find_assigned(&looped.body, assigned, declared);
                find_assigned(&looped.next, assigned, declared);
            }
            Step::Exit(_) | Step::Item(_) => {}
        }
    }
}

/// Returns the variables from before the steps that they assign to.
pub fn assigned(steps: &[Step]) -> Vars {
    let (mut assigned, mut declared) = (Vars::new(), Vars::new());
    find_assigned(steps, &mut assigned, &mut declared);
    &assigned - &declared
}

/// Returns the variables that the steps read.
pub fn reads<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vars {
    let mut found = Vars::new();
    for step in steps {
        match step {
            Step::Set { var, part, value, .. } => {
                found.extend(&value.reads);
                if !part.is_empty() {
                    found.insert(*var);
                }
            }
            Step::Branch { condition, then, otherwise, .. } => {
                found.extend(&condition.reads);
                found.extend(reads(then));
                found.extend(reads(otherwise));
            }
            Step::Loop(looped) => found.extend(loop_reads(looped)),
            Step::Declare(_) | Step::Exit(_) | Step::Item(_) => {}
        }
    }
    found
}

/// Returns the variables that any round of a loop reads.
pub fn loop_reads(looped: &Loop) -> Vars {
    let mut found = reads(looped.body.iter().chain(&looped.next));
    found.extend(looped.condition.iter().flat_map(|condition| &condition.reads));
    found
}

/// Returns the exits with which control leaves the steps before their end.
pub fn exits(steps: &[Step]) -> BTreeSet<Exit> {
    let mut found = BTreeSet::new();
    for step in steps {
        match step {
            Step::Exit(exit) => {
                found.insert(*exit);
            }
            Step::Branch { then, otherwise, .. } => {
                found.extend(exits(then));
                found.extend(exits(otherwise));
            }
            Step::Loop(looped) => {
                found.extend(exits(&looped.body));
                found.remove(&Exit::Break(looped.number));
                found.remove(&Exit::Continue(looped.number));
            }
            Step::Declare(_) | Step::Set { .. } | Step::Item(_) => {}
        }
    }
    found
}

/// Whether control can come to the end of the steps.
pub fn completes(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Exit(_) => false,
        Step::Branch { then, otherwise, .. } => completes(then) || completes(otherwise),
        Step::Loop(looped) => {
            looped.condition.is_some() || exits(&looped.body).contains(&Exit::Break(looped.number))
        }
        Step::Declare(_) | Step::Set { .. } | Step::Item(_) => true,
    })
}
