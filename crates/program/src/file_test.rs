//! Reads file tests: a program in text form, with inputs and expectations in the comments before it.
//!
//! One file runs on the simulator and on every device; this module reads files and compares results, and knows of no
//! device. The lines before `kernel` that start with `//` and one of these words are directives, all others are prose:
//!
//! ```text
//! // case name                   what follows is about another run (a file may also be one case without a name)
//! // input xs = [1, 2, 3]        the contents of a memory: also [0; 64] (64 zeros), [0..64] (0, 1, ..., 63)
//! // input n = 3                 a scalar
//! // space out = 5               unwritten memory of 5 elements
//! // expect out = [1, _, 3]      the contents afterwards; `_` is not compared
//! // expect out ~ [0.5, 0.25]    floats, to within a relative 1e-5
//! // expect fault race           the simulator stops with this fault
//! // expect refused no memory    the verifier refuses the program, and says this
//! // steps 1000                  the simulator stops after so many steps
//! ```
//!
//! Memory that is expected and not given has as many elements as are expected, unwritten.

use std::fmt;

use pumice_scalar::{Constant, ScalarType};

use crate::ir::{Param, Program};
use crate::parse::parse;
use crate::simulate::{FaultKind, SimMemory};

/// Tolerance of comparisons with `~`: the largest difference from the expected float, relative to it.
pub const TOLERANCE: f64 = 1e-5;

/// The most elements that a list may have.
const MAX_ELEMENTS: usize = 1 << 24;

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTest {
    /// The program; not verified.
    pub program: Program,
    /// Runs of the program.
    pub cases: Vec<Case>,
}

/// One run of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name; empty if it has none.
    pub name: String,
    /// The contents of the memories, in the order of the memory parameters; `None` is unwritten.
    pub memories: Vec<Vec<Option<Constant>>>,
    /// The element types of the memories.
    pub types: Vec<ScalarType>,
    /// The scalars, in the order of the scalar parameters.
    pub scalars: Vec<Constant>,
    /// Step limit of the simulator, if the case sets one.
    pub steps: Option<u64>,
    /// Expected outcome.
    pub expectation: Expectation,
}

/// Expected outcome of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// Memories have these contents afterwards.
    Contents(Vec<ExpectedContents>),
    /// The simulator stops with a fault. Not for devices: there it is undefined what happens.
    Fault(FaultKind),
    /// The verifier refuses the program, and its message contains this.
    Refused(String),
}

/// Expected contents of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedContents {
    /// Position among the memory parameters.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// Its elements; `None` can be anything.
    pub elements: Vec<Option<Constant>>,
    /// Whether floats may be a little off.
    pub approximate: bool,
}

/// Error in a file test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTestError {
    /// The line, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for FileTestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for FileTestError {}

impl Case {
    /// The memories as the simulator takes them.
    pub fn sim_memories(&self) -> Vec<SimMemory> {
        let each = self.memories.iter().zip(&self.types);
        each.map(|(elements, ty)| {
            let mut memory = SimMemory::unwritten(elements.len() * ty.bytes());
            for (index, element) in elements.iter().enumerate() {
                if let Some(constant) = element {
                    memory.set(index, *constant);
                }
            }
            memory
        })
        .collect()
    }

    /// The memories as bytes, for devices; what is unwritten is zero.
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        self.sim_memories().into_iter().map(|memory| memory.bytes().to_vec()).collect()
    }

    /// Compares the memories after a run with what is expected; says where they differ. A case that expects something
    /// else than contents accepts anything.
    pub fn compare<B: AsRef<[u8]>>(&self, memories: &[B]) -> Result<(), String> {
        let Expectation::Contents(all) = &self.expectation else {
            return Ok(());
        };
        for expected in all {
            let (Some(found), Some(&ty)) =
                (memories.get(expected.position), self.types.get(expected.position))
            else {
                return Err(format!("there is no memory `{}`", expected.name));
            };
            let found = found.as_ref();
            let length = found.len() / ty.bytes();
            if length != expected.elements.len() {
                let (name, wanted) = (&expected.name, expected.elements.len());
                return Err(format!("`{name}` has {length} elements and should have {wanted}"));
            }
            for (index, (bytes, wanted)) in found.chunks_exact(ty.bytes()).zip(&expected.elements).enumerate()
            {
                let value = Constant::from_bytes(ty, bytes);
                if let Some(wanted) = wanted
                    && !same(value, *wanted, expected.approximate)
                {
                    return Err(format!(
                        "`{}` at index {index} is {value} and should be {wanted}",
                        expected.name
                    ));
                }
            }
        }
        Ok(())
    }
}

fn same(value: Constant, wanted: Constant, approximate: bool) -> bool {
    match (value.as_float(), wanted.as_float()) {
        (Some(value), Some(wanted)) if value.is_nan() || wanted.is_nan() => value.is_nan() && wanted.is_nan(),
        (Some(value), Some(wanted)) if approximate => {
            value == wanted || (value - wanted).abs() <= TOLERANCE * wanted.abs()
        }
        _ => value == wanted,
    }
}

/// Reads a file.
pub fn read(text: &str) -> Result<FileTest, FileTestError> {
    let program =
        parse(text).map_err(|error| FileTestError { line: error.line, message: error.to_string() })?;
    let mut drafts = vec![Draft::default()];
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let line = line.trim();
        if line.split_whitespace().next() == Some("kernel") {
            break;
        }
        let Some((word, rest)) = line.strip_prefix("//").map(str::trim).and_then(|line| line.split_once(' '))
        else {
            continue;
        };
        let rest = rest.trim();
        let mut draft = || -> Result<(), String> {
            if word == "case" {
                drafts.push(Draft { name: rest.to_owned(), line: line_number, ..Draft::default() });
                return Ok(());
            }
            match drafts.last_mut() {
                Some(draft) => draft.directive(&program, word, rest),
                None => Ok(()),
            }
        };
        draft().map_err(|message| FileTestError { line: line_number, message })?;
    }
    // The directives before the first `case` are a case of their own, unless there are none.
    if drafts.len() > 1 && drafts.first().is_some_and(|draft| *draft == Draft::default()) {
        drafts.remove(0);
    }
    let cases: Result<Vec<Case>, FileTestError> = drafts
        .into_iter()
        .map(|draft| {
            let line = draft.line.max(1);
            draft.finish(&program).map_err(|message| FileTestError { line, message })
        })
        .collect();
    Ok(FileTest { cases: cases?, program })
}

/// A case that is being read.
#[derive(Clone, Debug, Default, PartialEq)]
struct Draft {
    name: String,
    line: usize,
    /// By position among all parameters: what was given.
    given: Vec<(usize, Given)>,
    contents: Vec<(usize, ExpectedContents)>,
    other: Option<Expectation>,
    steps: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Given {
    Scalar(Constant),
    Elements(Vec<Option<Constant>>),
}

impl Draft {
    fn directive(&mut self, program: &Program, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "input" => {
                let (name, value) = rest.split_once('=').ok_or("expected `input name = value`")?;
                let (position, ty, memory) = find(program, name.trim())?;
                let given = match memory {
                    true => Given::Elements(elements(ty, value.trim())?),
                    false => Given::Scalar(constant(ty, value.trim())?),
                };
                self.given.push((position, given));
                Ok(())
            }
            "space" => {
                let (name, length) = rest.split_once('=').ok_or("expected `space name = length`")?;
                let (position, _, memory) = find(program, name.trim())?;
                let length: usize =
                    length.trim().parse().map_err(|_| format!("`{length}` is not a length"))?;
                if !memory || length > MAX_ELEMENTS {
                    return Err(format!("`{}` cannot have {length} elements", name.trim()));
                }
                self.given.push((position, Given::Elements(vec![None; length])));
                Ok(())
            }
            "steps" => {
                let steps = rest.parse().map_err(|_| format!("`{rest}` is not a number of steps"))?;
                self.steps = Some(steps);
                Ok(())
            }
            "expect" => self.expect(program, rest),
            _ => Ok(()),
        }
    }

    fn expect(&mut self, program: &Program, rest: &str) -> Result<(), String> {
        if let Some(kind) = rest.strip_prefix("fault ") {
            let kind =
                FaultKind::from_name(kind.trim()).ok_or(format!("there is no fault `{}`", kind.trim()))?;
            self.other = Some(Expectation::Fault(kind));
            return Ok(());
        }
        if let Some(message) = rest.strip_prefix("refused ") {
            self.other = Some(Expectation::Refused(message.trim().to_owned()));
            return Ok(());
        }
        let Some(sign) = rest.find(['=', '~']) else {
            return Err(
                "expected `expect name = [..]`, `expect fault kind` or `expect refused message`".to_owned()
            );
        };
        let (name, value) = (rest[..sign].trim(), rest[sign + 1..].trim());
        let (position, ty, memory) = find(program, name)?;
        if !memory {
            return Err(format!("`{name}` is not a memory"));
        }
        let expected = ExpectedContents {
            position: memories_before(program, position),
            name: name.to_owned(),
            elements: elements(ty, value)?,
            approximate: rest[sign..].starts_with('~'),
        };
        self.contents.push((position, expected));
        Ok(())
    }

    fn finish(self, program: &Program) -> Result<Case, String> {
        let mut case = Case {
            name: self.name,
            memories: Vec::new(),
            types: Vec::new(),
            scalars: Vec::new(),
            steps: self.steps,
            expectation: Expectation::Contents(
                self.contents.iter().map(|(_, expected)| expected.clone()).collect(),
            ),
        };
        if let Some(expectation) = self.other {
            case.expectation = expectation;
        }
        for (position, &param) in program.params.iter().enumerate() {
            let given =
                self.given.iter().rev().find(|(at, _)| *at == position).map(|(_, given)| given.clone());
            let expected = self.contents.iter().find(|(at, _)| *at == position).map(|(_, expected)| expected);
            match (param, given, expected) {
                (Param::Scalar(_), Some(Given::Scalar(constant)), _) => case.scalars.push(constant),
                (Param::Memory(id), Some(Given::Elements(elements)), _) => {
                    case.memories.push(elements);
                    case.types.extend(program.memories.get(id.0 as usize).map(|memory| memory.ty));
                }
                (Param::Memory(id), None, Some(expected)) => {
                    case.memories.push(vec![None; expected.elements.len()]);
                    case.types.extend(program.memories.get(id.0 as usize).map(|memory| memory.ty));
                }
                // A program that is refused is not run.
                _ if matches!(case.expectation, Expectation::Refused(_)) => {}
                (param, ..) => return Err(format!("`{}` is not given", param_name(program, param))),
            }
        }
        Ok(case)
    }
}

fn param_name(program: &Program, param: Param) -> &str {
    let name = match param {
        Param::Memory(id) => program.memories.get(id.0 as usize).map(|memory| &memory.name),
        Param::Scalar(var) => program.vars.get(var.0 as usize).map(|info| &info.name),
    };
    name.map_or("", String::as_str)
}

/// The position of a parameter, its type, and whether it is memory.
fn find(program: &Program, name: &str) -> Result<(usize, ScalarType, bool), String> {
    let position = program.params.iter().position(|&param| param_name(program, param) == name);
    let position = position.ok_or_else(|| format!("there is no parameter `{name}`"))?;
    let ty = match program.params.get(position) {
        Some(Param::Memory(id)) => program.memories.get(id.0 as usize).map(|memory| (memory.ty, true)),
        Some(Param::Scalar(var)) => program.vars.get(var.0 as usize).map(|info| (info.ty, false)),
        None => None,
    };
    let (ty, memory) = ty.ok_or_else(|| format!("there is no parameter `{name}`"))?;
    Ok((position, ty, memory))
}

/// Returns the number of memory parameters before a parameter.
fn memories_before(program: &Program, position: usize) -> usize {
    program.params.iter().take(position).filter(|param| matches!(param, Param::Memory(_))).count()
}

fn constant(ty: ScalarType, text: &str) -> Result<Constant, String> {
    Constant::parse(ty, text).ok_or_else(|| format!("`{text}` is not a value of type {ty}"))
}

/// `[1, _, 3]`, `[0; 64]` or `[0..64]`.
fn elements(ty: ScalarType, text: &str) -> Result<Vec<Option<Constant>>, String> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inside = inside.ok_or_else(|| format!("`{text}` is not a list"))?.trim();
    let one = |text: &str| match text.trim() {
        "_" => Ok(None),
        text => constant(ty, text).map(Some),
    };
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    if let Some((value, count)) = inside.split_once(';') {
        let count = count.trim().parse().ok().filter(|&count| count <= MAX_ELEMENTS);
        let count = count.ok_or_else(|| format!("`{text}` has no length"))?;
        return Ok(vec![one(value)?; count]);
    }
    if let Some((start, end)) = inside.split_once("..") {
        let bound =
            |text: &str| text.trim().parse::<i64>().map_err(|_| format!("`{text}` is not a whole number"));
        let (start, end) = (bound(start)?, bound(end)?);
        if i128::from(end) - i128::from(start) > MAX_ELEMENTS as i128 {
            return Err(format!("`{text}` is too long"));
        }
        return Ok((start..end).map(|value| Some(Constant::from_integer(ty, value.into()))).collect());
    }
    inside.split(',').map(one).collect()
}
