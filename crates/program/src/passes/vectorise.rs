//! A pass: merges loads (and stores) of neighbouring elements into one of 2 or 4 elements.
//!
//! It looks at lists of statements without branches. Accesses merge if their indices are provably consecutive, the
//! first is provably a multiple of their number, and nothing between them could tell: no store to what is loaded, no
//! access to what is stored, no barrier, fence, atomic or collective. Private memory is left alone: it has no addresses
//! where it is registers. A load moves up to the first of its group, a store down to the last. Never
//! across branches: what a check guards stays behind it.
//!
//! Needs: indices as they were written, before `narrow` puts casts between them; scalar arguments that are multiples of what
//! is said of them. Leaves: a program that does the same with fewer accesses, none wider than the target's widest.

use std::collections::BTreeMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{MemoryId, Operand, Program, Space, Stmt, Var};
use crate::linear::{Sums, Terms};

/// Memory is aligned to at least this at index 0, in every space.
const ALIGNED_BYTES: usize = 16;

/// With more groups than this under way, the oldest is closed, so that long lists do not take quadratic time.
const MAX_GROUPS: usize = 64;

/// Options of the pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorOptions {
    /// The most bytes that one access may have; more than 16 counts as 16.
    pub bytes: usize,
    /// Scalar arguments that are known to be multiples of a number, such as the length of a row.
    pub multiples: BTreeMap<Var, u64>,
}

impl Default for VectorOptions {
    fn default() -> VectorOptions {
        VectorOptions { bytes: ALIGNED_BYTES, multiples: BTreeMap::new() }
    }
}

/// Merges what can be merged. The program must be one that the verifier accepts.
pub fn vectorise(program: &mut Program, options: &VectorOptions) {
    let sums = Sums::of(program, &options.multiples);
    let mut body = std::mem::take(&mut program.body);
    let mut pass = Pass { program, sums, bytes: options.bytes.min(ALIGNED_BYTES) };
    pass.list(&mut body);
    program.body = body;
}

struct Pass<'a> {
    /// The program, without its body.
    program: &'a mut Program,
    sums: Sums,
    bytes: usize,
}

/// A load or store of one element.
#[derive(Clone, Debug)]
struct Element {
    /// Its position in the list.
    position: usize,
    index: Operand,
    /// The constant part of the index.
    offset: i128,
    /// The variable that is loaded, or the value that is stored.
    value: Operand,
}

/// Accesses to one memory that may merge: their indices differ by constants.
#[derive(Clone, Debug)]
struct Group {
    memory: MemoryId,
    terms: Terms,
    store: bool,
    /// By the constant parts of their indices.
    elements: BTreeMap<i128, Element>,
}

/// Edits of a list: by position, the statements that replace the one there.
type Edits = BTreeMap<usize, Vec<Stmt>>;

impl Pass<'_> {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        let mut edits = Edits::new();
        let mut open: Vec<Group> = Vec::new();
        for (position, stmt) in list.iter_mut().enumerate() {
            if let Stmt::Let { .. } | Stmt::Comment(_) = stmt {
                continue;
            }
            for child in stmt.children_mut() {
                self.list(child);
            }
            let element = match stmt {
                Stmt::Load { vars, memory, index } if vars.len() == 1 => {
                    Some((*memory, *index, Operand::Var(vars[0]), false))
                }
                Stmt::Store { memory, index, values } if values.len() == 1 => {
                    Some((*memory, *index, values[0], true))
                }
                _ => None,
            };
            let found = element.filter(|(memory, ..)| !self.is_private(*memory));
            let found = found.and_then(|(memory, index, value, store)| {
                let sum = self.sums.operand(self.program, index)?;
                let element = Element { position, index, offset: sum.constant, value };
                let elements = BTreeMap::from([(sum.constant, element)]);
                Some(Group { memory, terms: sum.terms, store, elements })
            });
            let joins = |group: &Group| found.as_ref().is_some_and(|found| group.takes(found));
            let (closed, mut rest): (Vec<Group>, Vec<Group>) =
                open.into_iter().partition(|group| !joins(group) && self.disturbs(stmt, group));
            closed.iter().for_each(|group| self.close(group, &mut edits));
            if let Some(found) = found {
                match rest.iter_mut().find(|group| group.takes(&found)) {
                    Some(group) => group.elements.extend(found.elements),
                    None => rest.push(found),
                }
            }
            open = rest;
            if open.len() > MAX_GROUPS {
                let oldest = open.remove(0);
                self.close(&oldest, &mut edits);
            }
        }
        open.iter().for_each(|group| self.close(group, &mut edits));
        if !edits.is_empty() {
            let old = std::mem::take(list).into_iter().enumerate();
            *list = old
                .flat_map(|(position, stmt)| edits.remove(&position).unwrap_or_else(|| vec![stmt]))
                .collect();
        }
    }

    fn is_private(&self, memory: MemoryId) -> bool {
        let memory = self.program.memories.get(memory.0 as usize);
        memory.is_some_and(|memory| matches!(memory.space, Space::Private { .. }))
    }

    /// Whether accesses before a statement must not merge with accesses after it.
    fn disturbs(&self, stmt: &Stmt, group: &Group) -> bool {
        match stmt {
            Stmt::Sync { .. } | Stmt::Fence { .. } | Stmt::Atomic { .. } | Stmt::Collective { .. } => true,
            Stmt::Load { memory, .. } => group.store && *memory == group.memory,
            Stmt::Store { memory, .. } => *memory == group.memory,
            _ => stmt.children().into_iter().flatten().any(|stmt| self.disturbs(stmt, group)),
        }
    }

    /// Merges what it can of a group to which nothing will be added.
    fn close(&mut self, group: &Group, edits: &mut Edits) {
        let Some(memory) = self.program.memories.get(group.memory.0 as usize) else {
            return;
        };
        let bytes = memory.ty.bytes();
        let power = self.sums.power_of_terms(&group.terms);
        let mut left: BTreeMap<i128, &Element> =
            group.elements.iter().map(|(offset, element)| (*offset, element)).collect();
        for count in [16usize, 8, 4, 2] {
            if count * bytes > self.bytes || power < count.trailing_zeros() {
                continue;
            }
            let offsets: Vec<i128> = left.keys().copied().collect();
            for first in offsets {
                if first % count as i128 != 0 {
                    continue;
                }
                let offsets = first..first + count as i128;
                let elements: Option<Vec<&Element>> =
                    offsets.clone().map(|offset| left.get(&offset).copied()).collect();
                if let Some(elements) = elements {
                    offsets.for_each(|offset| {
                        left.remove(&offset);
                    });
                    self.merge(group, &elements, edits);
                }
            }
        }
    }

    /// Merges consecutive elements, given in the order of their indices.
    fn merge(&mut self, group: &Group, elements: &[&Element], edits: &mut Edits) {
        let in_time = |element: &&&Element| element.position;
        let (Some(lowest), Some(first), Some(last)) =
            (elements.first(), elements.iter().min_by_key(in_time), elements.iter().max_by_key(in_time))
        else {
            return;
        };
        for element in elements {
            edits.insert(element.position, Vec::new());
        }
        if group.store {
            let values = elements.iter().map(|element| element.value).collect();
            // The lowest index was computed before its store, and so before the last one.
            let store = Stmt::Store { memory: group.memory, index: lowest.index, values };
            edits.insert(last.position, vec![store]);
            return;
        }
        let mut statements = Vec::new();
        // The lowest index may be computed after the first load only.
        let index = match lowest.position == first.position {
            true => lowest.index,
            false => self.moved(first.index, lowest.offset - first.offset, &mut statements),
        };
        let vars = elements.iter().filter_map(|element| match element.value {
            Operand::Var(var) => Some(var),
            Operand::Constant(_) => None,
        });
        statements.push(Stmt::Load { vars: vars.collect(), memory: group.memory, index });
        edits.insert(first.position, statements);
    }

    /// An index plus a constant.
    fn moved(&mut self, index: Operand, distance: i128, statements: &mut Vec<Stmt>) -> Operand {
        let var = match index {
            Operand::Constant(constant) => {
                let value = constant.as_integer().unwrap_or_default() + distance;
                return Operand::Constant(Constant::from_integer(constant.ty(), value));
            }
            Operand::Var(var) => var,
        };
        let info = self.program.vars.get(var.0 as usize);
        let (ty, name) = info.map_or((ScalarType::I64, "at".to_owned()), |info| (info.ty, info.name.clone()));
        let moved = self.program.add_var(ty, name);
        let distance = Operand::Constant(Constant::from_integer(ty, distance));
        statements.push(Stmt::Let { var: moved, op: Op::Add, operands: vec![index, distance] });
        Operand::Var(moved)
    }
}

impl Group {
    /// Whether an access (a group of one) can join this group.
    fn takes(&self, found: &Group) -> bool {
        self.memory == found.memory
            && self.store == found.store
            && self.terms == found.terms
            && found.elements.keys().all(|offset| !self.elements.contains_key(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body after the pass, one statement a line.
    fn merged(bytes: usize, body: &str) -> String {
        let text = format!(
            "kernel k memory @xs: global read f32 memory @ys: global readwrite f32 memory @out: global write f32
             memory @s: shared f32[64] memory @p: private f32[8] memory @cell: shared i64[1] params @xs, @ys, @out, %n: i64, %m: i64 threads 8
             blocks %block: i64 < 4:i64 body {{ parallel %i: i64 < 8:i64 {{ {body} }} }}"
        );
        let mut program = crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap();
        vectorise(&mut program, &VectorOptions { bytes, multiples: BTreeMap::from([(Var(1), 8)]) });
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        let Some(Stmt::Parallel { body, .. }) = program.body.first() else { panic!() };
        let lines: Vec<String> = body.iter().map(|stmt| program.statement_text(stmt)).collect();
        lines.join("\n")
    }

    const FOUR: &str = "
        %b: i64 = mul %i, 4:i64
        %x0: f32 = load @xs[%b]
        %b1: i64 = add %b, 1:i64
        %x1: f32 = load @xs[%b1]
        %b2: i64 = add %b1, 1:i64
        %x2: f32 = load @xs[%b2]
        %b3: i64 = add %b, 3:i64
        %x3: f32 = load @xs[%b3]
        store @out[%b] = %x3
        store @out[%b1] = %x2
        store @out[%b3] = %x0
        store @out[%b2] = %x1";

    #[test]
    fn four_loads_and_stores_become_one_each() {
        assert_eq!(
            merged(16, FOUR),
            "%b.4: i64 = mul %i.3, 4:i64
%x0.5: f32, %x1.7: f32, %x2.9: f32, %x3.11: f32 = load @xs[%b.4]
%b1.6: i64 = add %b.4, 1:i64
%b2.8: i64 = add %b1.6, 1:i64
%b3.10: i64 = add %b.4, 3:i64
store @out[%b.4] = %x3.11, %x2.9, %x1.7, %x0.5"
        );
    }

    #[test]
    fn thousands_of_accesses_merge_in_no_time() {
        let access = |k: usize| {
            format!("%a{k}: i64 = add %b, {k}:i64 %x{k}: f32 = load @xs[%a{k}] store @out[%a{k}] = %x{k}\n")
        };
        let body: String = (0..40_000).map(access).collect();
        let text = format!(
            "kernel k memory @xs: global read f32 memory @out: global write f32 params @xs, @out threads 8
             blocks %block: i64 < 1:i64 body {{ parallel %i: i64 < 8:i64 {{ %b: i64 = mul %i, 4:i64 {body} }} }}"
        );
        let mut program = crate::parse(&text).unwrap();
        let start = std::time::Instant::now();
        vectorise(&mut program, &VectorOptions { bytes: 16, multiples: BTreeMap::new() });
        // It takes some 20 seconds if each access is compared with all before it.
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        assert_eq!(program.to_string().matches("= load").count(), 10_000);
    }

    #[test]
    fn eight_bytes_take_two_at_a_time_and_four_bytes_none() {
        let text = merged(8, FOUR);
        assert_eq!(text.matches("load").count(), 2, "{text}");
        assert_eq!(text.matches("store").count(), 2, "{text}");
        assert_eq!(merged(4, FOUR).matches("load").count(), 4);
    }

    #[test]
    fn an_index_that_may_not_be_a_multiple_stays() {
        for base in ["mul %i, 3:i64", "mul %i, %n", "add %i, 4:i64"] {
            let body = FOUR.replace("mul %i, 4:i64", base);
            assert_eq!(merged(16, &body).matches("load").count(), 4, "{base}");
        }
        assert_eq!(merged(16, &FOUR.replace("mul %i, 4:i64", "mul %i, 6:i64")).matches("load").count(), 2);
    }

    #[test]
    fn divisibility_is_seen_through_arithmetic() {
        for base in [
            "shl %i, 2:i64",
            "mul %i, %m",
            "and %i, -4:i64",
            "sub %m, 16:i64",
            "shr %m, 1:i64",
            "div %m, 2:i64",
        ] {
            let body = FOUR.replace("mul %i, 4:i64", base);
            assert_eq!(merged(16, &body).matches("load").count(), 1, "{base}");
        }
    }

    #[test]
    fn sums_in_any_order_are_recognised() {
        let body = "
            %r: i64 = mul %block, 32:i64
            %c0: i64 = mul %i, 2:i64
            %c1: i64 = add %c0, 1:i64
            %a1: i64 = add %r, %c1
            %x1: f32 = load @xs[%a1]
            %d: i64 = shl %i, 1:i64
            %a0: i64 = add %d, %r
            %x0: f32 = load @xs[%a0]";
        let text = merged(16, body);
        // The lower index is computed after the first load, so it is computed from that one's.
        assert!(
            text.contains("%a1.12: i64 = add %a1.7, -1:i64\n%x0.11: f32, %x1.8: f32 = load @xs[%a1.12]"),
            "{text}"
        );
    }

    #[test]
    fn what_could_tell_keeps_loads_apart() {
        let two = |memory: &str, between: &str| {
            let body = format!(
                "%b: i64 = mul %i, 2:i64 %b1: i64 = add %b, 1:i64
                 %x0: f32 = load @{memory}[%b] {between} %x1: f32 = load @{memory}[%b1] store @out[%b] = %x1"
            );
            merged(16, &body).matches(&format!("load @{memory}")).count()
        };
        assert_eq!(two("xs", "store @out[%i] = %x0"), 1);
        assert_eq!(two("s", "store @out[%i] = %x0"), 1);
        assert_eq!(two("ys", "store @ys[%b1] = %x0"), 2);
        // Memory that is written is no other memory.
        assert_eq!(two("ys", "store @out[%b1] = %x0"), 1);
        assert_eq!(two("s", "store @s[%b1] = %x0"), 2);
        assert_eq!(two("s", "%c: bool = lt %i, 3:i64 if %c { store @s[%b1] = %x0 }"), 2);
        assert_eq!(two("s", "%c: bool = lt %i, 3:i64 if %c { store @out[%b1] = %x0 }"), 1);
    }

    #[test]
    fn what_could_tell_keeps_stores_apart() {
        let two = |between: &str| {
            let body = format!(
                "%b: i64 = mul %i, 2:i64 %b1: i64 = add %b, 1:i64
                 store @s[%b] = 1.0:f32 {between} store @s[%b1] = 2.0:f32"
            );
            merged(16, &body).matches("store @s").count()
        };
        assert_eq!(two(""), 1);
        assert_eq!(two("%x: f32 = load @xs[%i]"), 1);
        assert_eq!(two("%x: f32 = load @s[%i]"), 2);
        assert_eq!(two("store @s[%i] = 3.0:f32"), 3);
        assert_eq!(two("store @s[%b] = 3.0:f32"), 2);
        assert_eq!(two("store @out[%i] = 3.0:f32"), 1);
    }

    #[test]
    fn what_orders_threads_keeps_accesses_apart() {
        let two = |between: &str| {
            let body = format!(
                "%b: i64 = mul %i, 2:i64 %b1: i64 = add %b, 1:i64 %c: bool = lt %n, 3:i64
                 %x0: f32 = load @ys[%b] store @out[%b] = 1.0:f32 {between}
                 %x1: f32 = load @ys[%b1] store @out[%b1] = 2.0:f32"
            );
            let text = merged(16, &body);
            (text.matches("load @ys").count(), text.matches("store @out").count())
        };
        assert_eq!(two(""), (1, 1));
        for between in [
            "fence warp",
            "fence block",
            "fence grid",
            "%v: i64 = atomic load @cell[0:i64]",
            "atomic store @cell[0:i64], 1:i64",
            "atomic add @cell[0:i64], 1:i64",
            "%v: f32 = shuffle_xor %x0, 1:i32",
            "%v: bool = any %c",
            "if %c { fence block }",
            "if %c { for %k: i64 in 0:i64..%n step 1:i64 { atomic add @cell[0:i64], 1:i64 } }",
        ] {
            assert_eq!(two(between), (2, 2), "{between}");
        }
    }

    #[test]
    fn private_memory_stays_as_it_is() {
        let text = merged(
            16,
            "store @p[0:i64] = 1.0:f32 store @p[1:i64] = 2.0:f32 store @p[2:i64] = 1.0:f32 store @p[3:i64] = 1.0:f32
             %x: f32 = load @p[0:i64] %y: f32 = load @p[1:i64] store @out[%i] = %x",
        );
        assert_eq!(text.lines().count(), 7, "{text}");
    }

    #[test]
    fn constant_indices_merge() {
        let text =
            merged(16, "%x: f32 = load @xs[3:i64] %y: f32 = load @xs[2:i64] %z: f32 = load @xs[1:i64]");
        assert_eq!(text, "%y.5: f32, %x.4: f32 = load @xs[2:i64]\n%z.6: f32 = load @xs[1:i64]");
    }
}
