//! Levels of operations: checks that they exist, and that operations under a `concat` are at lower levels (the level of FCL's
//! judgement in rule 30). Types already ensure it for the parts that `concat` is given; here it is ensured for operations inside
//! of these parts, like a `force` whose level no type shows.

use super::arena::{LevelId, LevelRef, Node, Ty};
use super::checked::FunctionId;
use super::elaborate::level_named;
use super::infer::Checker;
use super::names::{Entity, nearest};
use super::order::components;
use super::resolve::Target;
use super::scheme::{Chosen, InferredScheme, MAX_SIZE, Quantified};
use crate::ast::{Expr, LevelExpr, Name, Parameter};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashMap;

/// The level of a grid, above which there is none.
const GRID: u32 = 3;

/// Expressions that are done at a level at most: the operands of a `concat`, or everything.
#[derive(Clone, Copy, Default)]
pub struct Region {
    pub parent: usize,
    /// The level, and the `concat`.
    pub ceiling: Option<(LevelRef, Span)>,
}

/// An operation of a level.
#[derive(Clone, Copy)]
pub struct LevelUse {
    level: LevelRef,
    region: usize,
    span: Span,
}

/// A use of a function, which may work at any level inside.
#[derive(Clone, Copy)]
pub struct Call {
    function: FunctionId,
    region: usize,
    span: Span,
}

/// A level parameter of a function: which, from 0.
pub type LevelParameter = (FunctionId, usize);

/// An application of a function of the program to a level.
#[derive(Clone, Copy)]
pub struct LevelCall {
    of: LevelParameter,
    level: LevelRef,
    /// Number of levels above the given level at which the function works, according to its type.
    told: u32,
    region: usize,
    span: Span,
}

/// The same once the function around it has types.
#[derive(Clone, Copy)]
pub struct SettledCall {
    call: LevelCall,
    caller: FunctionId,
    /// The level parameter of the caller that the level is counted from, if it is.
    from: Option<LevelParameter>,
    ceiling: Option<(LevelRef, Span)>,
}

impl Checker<'_> {
    /// Creates a region inside of this one.
    pub fn new_region(&mut self, parent: usize) -> usize {
        self.regions.push(Region { parent, ceiling: None });
        self.regions.len() - 1
    }

    /// Records the levels with which a use instantiates the variables of a scheme.
    pub fn use_levels(&mut self, expr: &Expr, scheme: &InferredScheme, chosen: &[Chosen]) {
        for (quantified, chosen) in scheme.variables.iter().zip(chosen) {
            if let (Quantified::Level(variable), Chosen::Level(level)) = (quantified, chosen) {
                let above = self.levels_above(scheme.ty, *variable);
                self.use_level(LevelRef { above: level.above + above, variable: level.variable }, expr.span);
            }
        }
    }

    pub fn use_level(&mut self, level: LevelRef, span: Span) {
        self.level_uses.push(LevelUse { level, region: self.region, span });
    }

    /// Records that a function of the program is applied to a level, as the argument with this number among its levels.
    pub fn use_level_of(&mut self, head: &Expr, number: usize, level: LevelRef, told: u32, span: Span) {
        if let Some(Target::Global(Entity::Function(function))) =
            self.meanings.names.get(head.id.0 as usize).copied()
        {
            let of = (function, number);
            self.level_calls.push(LevelCall { of, level, told, region: self.region, span });
        }
    }

    /// Records the use of a function.
    pub fn use_function(&mut self, expr: &Expr, function: FunctionId) {
        // Outside of any `concat` a function may work at any level.
        if self.region > 0 {
            self.calls.push(Call { function, region: self.region, span: expr.span });
        }
    }

    /// Returns how many levels above a variable the levels in a type are, at most.
    pub fn levels_above(&self, ty: Ty, variable: LevelId) -> u32 {
        let (mut above, mut waiting): (u32, Vec<Ty>) = (0, vec![ty]);
        // A scheme is not large, so shared parts may be visited twice. Of other types, no more nodes are visited than a scheme may have.
        for _ in 0..MAX_SIZE {
            let Some(ty) = waiting.pop() else { break };
            match self.arena.look(ty).1 {
                Node::Tuple(parts) | Node::Record(_, parts) | Node::Sum(_, parts) => {
                    waiting.extend(self.arena.parts(parts))
                }
                Node::Function(parameter, result) => waiting.extend([parameter, result]),
                Node::LevelFunction(_, part) | Node::Memory(part) => waiting.push(part),
                Node::Array { element, level, .. } => {
                    waiting.push(element);
                    if let Some(level) = level.map(|level| self.arena.find_level(level))
                        && level.variable == Some(variable)
                    {
                        above = above.max(level.above);
                    }
                }
                _ => {}
            }
        }
        above
    }

    /// Returns the level of `f <level>`.
    pub fn applied_level(&mut self, level: &LevelExpr) -> LevelRef {
        match level {
            LevelExpr::Above(more, below, _) => {
                let below = self.applied_level(below);
                LevelRef { above: below.above.saturating_add(*more), variable: below.variable }
            }
            LevelExpr::Name(name) => {
                let known = self.scope.levels.iter().rev().find(|(known, _)| *known == name.name);
                match (level_named(&name.name), known) {
                    (Some(above), _) => LevelRef { above, variable: None },
                    (None, Some((_, level))) => *level,
                    (None, None) => {
                        let error =
                            Diagnostic::new(name.span, format!("no level is called `{}` here", name.name));
                        let fixed: Vec<Name> = ["thread", "warp", "block", "grid"].map(Name::from).to_vec();
                        let all = self.scope.levels.iter().map(|(name, _)| name).chain(&fixed);
                        let near = nearest(&name.name, all).map(|near| format!("did you mean `{near}`?"));
                        let otherwise = || {
                            format!(
                                "levels are `thread`, `warp`, `block` and `grid`, or parameters: `fun f <{}> …`",
                                name.name
                            )
                        };
                        self.errors.push(error.help(near.unwrap_or_else(otherwise)));
                        self.arena.fresh_level()
                    }
                }
            }
        }
    }

    /// Reports a level above the grid.
    pub fn check_level(&mut self, level: LevelRef, span: Span) {
        let level = self.arena.find_level(level);
        if level.above > GRID {
            self.errors.push(no_level_above(span));
        }
    }

    /// Looks at the operations of a group of functions whose types are known.
    pub fn settle_levels(&mut self, group: &[FunctionId]) {
        let mut highest = None;
        let own = self.own_levels(group);
        // Of several uses that do not nest in a `concat` only the first is reported: a `force` and its `push` have the same level.
        let mut told = Vec::new();
        for LevelUse { level, region, span } in std::mem::take(&mut self.level_uses) {
            let level = self.arena.find_level(level);
            match level.variable {
                None => highest = highest.max(Some(level.above)),
                Some(variable) => {
                    if let Some(parameter) = own.get(&variable) {
                        let raise = self.raises.entry(*parameter).or_default();
                        *raise = level.above.min(GRID + 1).max(*raise);
                    }
                }
            }
            if level.above > GRID {
                self.errors.push(no_level_above(span));
                continue;
            }
            let too_low = self.ceilings(region).into_iter().find(|(ceiling, concat)| {
                level.variable == ceiling.variable && level.above > ceiling.above && !told.contains(concat)
            });
            if let Some((ceiling, concat)) = too_low {
                told.push(concat);
                self.levels_do_not_nest(level, ceiling, span, concat, "is done");
            }
        }
        for call in std::mem::take(&mut self.calls) {
            let known =
                self.ceilings(call.region).into_iter().filter(|(ceiling, _)| ceiling.variable.is_none());
            if let Some((ceiling, concat)) = known.min_by_key(|(ceiling, _)| ceiling.above) {
                self.calls_inside.push((call, ceiling.above, concat));
            }
        }
        for call in std::mem::take(&mut self.level_calls) {
            let level = self.arena.find_level(call.level);
            let ceilings = self.ceilings(call.region).into_iter();
            let ceiling = ceilings
                .filter(|(ceiling, _)| ceiling.variable == level.variable)
                .min_by_key(|(ceiling, _)| ceiling.above);
            let from = level.variable.and_then(|variable| own.get(&variable).copied());
            let call = LevelCall { level, ..call };
            self.settled_calls.push(SettledCall { call, caller: group[0], from, ceiling });
        }
        self.regions.truncate(1);
        for id in group {
            self.highest[id.0 as usize] = highest;
        }
    }

    /// Returns the level parameters of functions, by their variables in types.
    fn own_levels(&self, group: &[FunctionId]) -> HashMap<LevelId, LevelParameter> {
        let mut own = HashMap::new();
        for id in group {
            let (module, index) = self.names.functions[id.0 as usize];
            let parameters = &self.program.modules[module].module.functions[index].parameters;
            let levels = parameters.iter().filter_map(|parameter| match parameter {
                Parameter::Level(name) => self.level_parameters.get(&name.span),
                Parameter::Value(_) => None,
            });
            own.extend(levels.enumerate().map(|(number, level)| (*level, (*id, number))));
        }
        own
    }

    /// Returns how many levels above a level parameter a function works inside, also through other functions.
    fn raise(&self, of: LevelParameter) -> u32 {
        self.raises.get(&of).copied().unwrap_or(0)
    }

    /// Reports functions that work further above their level than their types say, where that is too high.
    fn check_raised_levels(&mut self) {
        let calls = std::mem::take(&mut self.settled_calls);
        let mut callers: HashMap<LevelParameter, Vec<(LevelParameter, u32)>> = HashMap::new();
        for SettledCall { call, from, .. } in &calls {
            callers.entry(call.of).or_default().extend(from.map(|from| (from, call.level.above)));
        }
        // A raise grows up to one above the grid, so each is looked at a few times.
        let mut waiting: Vec<LevelParameter> = self.raises.keys().copied().collect();
        while let Some(of) = waiting.pop() {
            for (from, above) in callers.get(&of).into_iter().flatten() {
                let raise = above.saturating_add(self.raise(of)).min(GRID + 1);
                if self.raise(*from) < raise {
                    self.raises.insert(*from, raise);
                    waiting.push(*from);
                }
            }
        }
        for SettledCall { call, caller, ceiling, .. } in calls {
            let raise = self.raise(call.of);
            if raise <= call.told {
                continue;
            }
            let level = LevelRef { above: call.level.above.saturating_add(raise), ..call.level };
            if level.variable.is_none() {
                let highest = &mut self.highest[caller.0 as usize];
                *highest = Some(level.above).max(*highest);
            }
            match ceiling {
                _ if level.above > GRID => self.errors.push(no_level_above(call.span)),
                Some((ceiling, concat)) if level.above > ceiling.above => {
                    self.levels_do_not_nest(level, ceiling, call.span, concat, "works inside");
                }
                _ => {}
            }
        }
    }

    /// Returns the highest levels at which a region may work, with the `concat` of each, innermost first.
    fn ceilings(&self, mut region: usize) -> Vec<(LevelRef, Span)> {
        let mut ceilings = Vec::new();
        while region > 0 {
            let Region { parent, ceiling } = self.regions[region];
            ceilings.extend(ceiling.map(|(level, concat)| (self.arena.find_level(level), concat)));
            region = parent;
        }
        ceilings
    }

    /// Reports functions under a `concat` that work at a higher level inside, also through other functions.
    pub fn check_levels_inside(&mut self) {
        self.check_raised_levels();
        let uses = &self.meanings.uses;
        let edges: Vec<Vec<u32>> = uses.iter().map(|uses| uses.iter().map(|used| used.0).collect()).collect();
        for group in components(&edges) {
            let used = group.iter().flat_map(|member| &edges[*member as usize]).chain(&group);
            let highest = used.filter_map(|used| self.highest[*used as usize]).max();
            group.iter().for_each(|member| self.highest[*member as usize] = highest);
        }
        for (call, ceiling, concat) in std::mem::take(&mut self.calls_inside) {
            if let Some(above) = self.highest[call.function.0 as usize].filter(|above| *above > ceiling) {
                let (level, ceiling) =
                    (LevelRef { above, variable: None }, LevelRef { above: ceiling, variable: None });
                self.levels_do_not_nest(level, ceiling, call.span, concat, "works inside");
            }
        }
    }

    fn levels_do_not_nest(
        &mut self,
        level: LevelRef,
        ceiling: LevelRef,
        span: Span,
        concat: Span,
        does: &str,
    ) {
        let (level, parts) = (self.show_level(level), self.show_level(ceiling));
        let message = format!("levels do not nest: `{level}` inside of what is done at the level `{parts}`");
        let error = Diagnostic::new(span, message)
            .label(format!("this {does} at the level `{level}`"))
            .other(concat, format!("its parts are computed at the level `{parts}`"));
        self.errors.push(error.help(format!(
            "use `{parts}` or a lower level here, or compute this before, in a `let` outside"
        )));
    }
}

fn no_level_above(span: Span) -> Diagnostic {
    let error =
        Diagnostic::new(span, "there is no level above `grid`").label("this would be one level above it");
    error.help("`concat` puts parts of a level together at the level above: parts of a block give a grid")
}
