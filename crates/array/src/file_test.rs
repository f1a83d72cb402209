//! Reads tests that are files: an array program with cases in the comments before it. The caller chooses the device.
//!
//! ```text
//! // case three numbers          starts a case; what stands before the first one is a case without a name
//! // array 0 = [3] {1, 2, 3}     an array argument
//! // scalar 1 = 2.5:f32          a scalar argument
//! // expect [] {6}               a result, in the order of the results
//! // expect ~ [1] {0.5}          floats, to within a relative 1e-5
//! // expect error out of bounds  the run fails, and says this
//! // expect refused a function   the verifier refuses the program, and says this
//! ```

use crate::data::{ArrayData, HostData, whole_columns};
use crate::operation::Given;
use crate::program::{ArrayProgram, Node, NodeId};
use crate::text::data::parse_data;
use crate::text::parse_program;
use pumice_scalar::text::{Cursor, ParseError, Parsed};
use pumice_scalar::{Constant, ScalarType};
use std::collections::HashMap;
use std::sync::Arc;

/// Largest relative error of floats that are compared with `~`.
pub const TOLERANCE: f64 = 1e-5;

/// The most scalar arguments that a case may have.
const MOST_SCALARS: usize = 1 << 10;

/// A file.
#[derive(Clone, Debug)]
pub struct FileTest {
    /// The program; not verified.
    pub program: ArrayProgram,
    /// The runs of the program.
    pub cases: Vec<Case>,
}

/// One run of a program.
#[derive(Clone, Default)]
pub struct Case {
    /// Its name; empty if it has none.
    pub name: String,
    /// The array arguments, by their numbers.
    pub arrays: HashMap<u32, Arc<dyn ArrayData>>,
    /// The scalar arguments, by their numbers; those that are not given are `false`.
    pub scalars: Vec<Constant>,
    /// Expected outcome.
    pub expectation: Expectation,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case {:?}", self.name)
    }
}

/// Expected outcome of a case.
#[derive(Clone)]
pub enum Expectation {
    /// The run gives these results.
    Results(Vec<ExpectedArray>),
    /// The run fails, and the message contains this.
    Error(String),
    /// The verifier refuses the program, and the message contains this.
    Refused(String),
}

impl Default for Expectation {
    fn default() -> Self {
        Expectation::Results(Vec::new())
    }
}

/// An expected result.
#[derive(Clone)]
pub struct ExpectedArray {
    /// Its extents and elements.
    pub data: Arc<HostData>,
    /// Whether floats may be a little off.
    pub approximate: bool,
}

impl Case {
    /// Whether the program should be refused before anything is run.
    pub fn is_refused(&self) -> bool {
        matches!(self.expectation, Expectation::Refused(_))
    }

    /// Compares the outcome of a run, its results or its error, with the expected one; describes the difference. For a program that should be
    /// refused, the outcome is the verifier's error.
    pub fn compare<D: AsRef<dyn ArrayData>>(&self, outcome: Result<&[D], String>) -> Result<(), String> {
        let expected = match (&self.expectation, &outcome) {
            (Expectation::Results(expected), Ok(_)) => expected,
            (Expectation::Results(_), Err(error)) => return Err(error.clone()),
            (Expectation::Error(part) | Expectation::Refused(part), Err(error)) => {
                return match error.contains(part) {
                    true => Ok(()),
                    false => Err(format!("expected an error with {part:?}, and it was {error:?}")),
                };
            }
            (Expectation::Error(part) | Expectation::Refused(part), Ok(_)) => {
                return Err(format!("expected an error with {part:?}, and there was none"));
            }
        };
        let found = outcome?;
        if found.len() != expected.len() {
            return Err(format!("expected {} results, found {}", expected.len(), found.len()));
        }
        let each = expected.iter().zip(found).enumerate();
        let mut each = each.map(|(number, (expected, found))| (number, expected.compare(found.as_ref())));
        each.try_for_each(|(number, outcome)| {
            outcome.map_err(|message| format!("result {number}: {message}"))
        })
    }
}

impl ExpectedArray {
    fn compare(&self, found: &dyn ArrayData) -> Result<(), String> {
        if self.data.extents() != found.extents() {
            return Err(format!("expected extents {:?}, found {:?}", self.data.extents(), found.extents()));
        }
        let columns = |data| whole_columns(data).map_err(|error| error.to_string());
        let (expected, columns) = (columns(&*self.data)?, columns(found)?);
        for (number, ((expected, found), ty)) in
            expected.iter().zip(&columns).zip(self.data.types()).enumerate()
        {
            let values = |bytes: &[u8]| -> Vec<Constant> {
                bytes.chunks_exact(ty.bytes()).map(|bytes| Constant::from_bytes(*ty, bytes)).collect()
            };
            let pairs = values(expected).into_iter().zip(values(found)).enumerate();
            for (position, (expected, found)) in pairs {
                if !is_same(found, expected, self.approximate) {
                    return Err(format!(
                        "scalar {number} at {position}: expected {expected:?}, found {found:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn is_same(found: Constant, expected: Constant, approximate: bool) -> bool {
    match (found.as_float(), expected.as_float()) {
        (Some(found), Some(expected)) if found.is_nan() || expected.is_nan() => {
            found.is_nan() && expected.is_nan()
        }
        (Some(found), Some(expected)) if approximate => {
            found == expected || (found - expected).abs() <= TOLERANCE * expected.abs()
        }
        _ => found == expected,
    }
}

/// Reads a file; its name is where operations are that do not say where the user wrote them.
pub fn read(text: &str, file: &str) -> Result<FileTest, ParseError> {
    let program = parse_program(text, file)?;
    let mut cases = vec![Draft::default()];
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        // Cases stand before the program.
        let Some(comment) = trimmed.strip_prefix("//") else {
            match trimmed.is_empty() {
                true => continue,
                false => break,
            }
        };
        let before = line.chars().count() - comment.chars().count();
        let place = |error: ParseError| ParseError {
            line: number + 1,
            column: before + error.column,
            message: error.message,
        };
        let mut cursor = Cursor::new(comment);
        if cursor.eat("case") {
            let name = comment.trim_start().trim_start_matches("case").trim().to_owned();
            cases.push(Draft {
                case: Case { name, ..Case::default() },
                line: number + 1,
                ..Draft::default()
            });
        } else if let Some(draft) = cases.last_mut() {
            draft.directive(&program, &mut cursor, comment).map_err(place)?;
        }
    }
    // The lines before the first `case` are a case of their own, unless there are none.
    if cases.len() > 1 && cases.first().is_some_and(|draft| !draft.is_used) {
        cases.remove(0);
    }
    for draft in &cases {
        let Expectation::Results(results) = &draft.case.expectation else { continue };
        if results.len() != program.results().len() {
            let message = format!("expected {} results, found {}", program.results().len(), results.len());
            return Err(ParseError { line: draft.line.max(1), column: 1, message });
        }
    }
    Ok(FileTest { program, cases: cases.into_iter().map(|draft| draft.case).collect() })
}

/// A case that is being read.
#[derive(Default)]
struct Draft {
    case: Case,
    line: usize,
    /// Whether anything was said of it.
    is_used: bool,
}

impl Draft {
    /// Reads a comment, if it is one of those that mean something.
    fn directive(&mut self, program: &ArrayProgram, cursor: &mut Cursor<'_>, comment: &str) -> Parsed<()> {
        let at = cursor.peek();
        if cursor.eat("array") {
            let number: u32 = cursor.number("the number of an array argument")?;
            cursor.expect("=")?;
            let is_meant = |node: &&Node| matches!(node.operation.given(), Some(Given::Argument(argument)) if argument == number);
            let Some(node) = program.nodes().iter().find(is_meant) else {
                return cursor.error(at, format!("the program has no array argument {number}"));
            };
            let data = parse_data(cursor, &node.types)?;
            self.case.arrays.insert(number, Arc::new(data));
        } else if cursor.eat("scalar") {
            let number: usize = cursor.number("the number of a scalar argument")?;
            cursor.expect("=")?;
            if number >= MOST_SCALARS {
                return cursor.error(at, format!("a case has at most {MOST_SCALARS} scalar arguments"));
            }
            let Some(value) = cursor.constant()? else { return cursor.expected("a constant") };
            let count = self.case.scalars.len().max(number + 1);
            self.case.scalars.resize(count, false.into());
            self.case.scalars[number] = value;
        } else if cursor.eat("expect") {
            self.is_used = true;
            let rest = comment.trim_start().trim_start_matches("expect").trim();
            if let Some(message) = rest.strip_prefix("error ") {
                self.case.expectation = Expectation::Error(message.trim().to_owned());
                return Ok(());
            }
            if let Some(message) = rest.strip_prefix("refused ") {
                self.case.expectation = Expectation::Refused(message.trim().to_owned());
                return Ok(());
            }
            self.expect_result(program, cursor)?;
        } else {
            return Ok(());
        }
        self.is_used = true;
        cursor.expect_end()
    }

    /// `expect [extents] {values}`, with `~` before it if floats may be a little off.
    fn expect_result(&mut self, program: &ArrayProgram, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let at = cursor.peek();
        let approximate = cursor.eat("~");
        let Expectation::Results(results) = &mut self.case.expectation else {
            return cursor.error(at, "a case that fails has no results");
        };
        let Some(types) = program.results().get(results.len()).and_then(|id| types_of(program, *id)) else {
            return cursor.error(at, format!("the program has no result {}", results.len()));
        };
        let data = Arc::new(parse_data(cursor, types)?);
        results.push(ExpectedArray { data, approximate });
        Ok(())
    }
}

/// The types of an array, if the program has it.
fn types_of(program: &ArrayProgram, id: NodeId) -> Option<&[ScalarType]> {
    program.nodes().get(id.0 as usize).map(|node| &node.types[..])
}
