//! Reads the text of array programs.
//!
//! The result is a program exactly as it was printed; whether it is well formed is for the verifier to say. Any text gives a
//! program or an error that says where: never a panic, however hostile it is.

use super::data::parse_data;
use crate::control::MOST_NESTED;
use crate::operation::{Given, Operation};
use crate::operations::{OPERATIONS, Parts};
use crate::program::{ArrayProgram, NodeId};
use pumice_scalar::text::lex::Token;
use pumice_scalar::text::{Cursor, ParseError, Parsed, parse_function};
use pumice_scalar::{Place, ScalarType};
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for ArrayProgram {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ArrayProgram, ParseError> {
        parse_program(text, "text")
    }
}

/// Reads a program. Operations that do not say where the user wrote them are at their lines of `file`.
pub fn parse_program(text: &str, file: &str) -> Result<ArrayProgram, ParseError> {
    let mut cursor = Cursor::new(text);
    let program = parse_body(&mut cursor, file, 0)?;
    cursor.expect_end()?;
    Ok(program)
}

/// The nodes and results of a program that is nested so deep.
fn parse_body(cursor: &mut Cursor<'_>, file: &str, depth: usize) -> Parsed<ArrayProgram> {
    let mut program = ArrayProgram::new();
    while !cursor.eat("return") {
        parse_node(cursor, &mut program, file, depth)?;
    }
    for result in parse_names(cursor)? {
        program.give(result);
    }
    Ok(program)
}

/// `a0: [_, _] (types) = operation`.
fn parse_node(cursor: &mut Cursor<'_>, program: &mut ArrayProgram, file: &str, depth: usize) -> Parsed<()> {
    let number = program.nodes().len();
    cursor.expect(&format!("a{number}"))?;
    cursor.expect(":")?;
    cursor.expect("[")?;
    let mut rank = 0;
    while !cursor.eat("]") {
        if rank > 0 {
            cursor.expect(",")?;
        }
        cursor.expect("_")?;
        rank += 1;
    }
    let types = parse_types(cursor)?;
    cursor.expect("=")?;
    let (operation, inputs, place) = parse_operation(cursor, &types, file, depth)?;
    program.add_shared(operation, inputs, rank, types, place);
    Ok(())
}

fn parse_types(cursor: &mut Cursor<'_>) -> Parsed<Vec<ScalarType>> {
    let mut types = Vec::new();
    cursor.expect("(")?;
    while !cursor.eat(")") {
        if !types.is_empty() {
            cursor.expect(",")?;
        }
        types.push(cursor.scalar_type()?);
    }
    Ok(types)
}

/// An operation with its inputs and its place.
type Placed = (Arc<dyn Operation>, Vec<NodeId>, Place);

/// `keyword numbers data (inputs) at place functions {programs}`.
fn parse_operation(
    cursor: &mut Cursor<'_>,
    types: &[ScalarType],
    file: &str,
    depth: usize,
) -> Parsed<Placed> {
    let at = cursor.peek();
    let keyword = cursor.word("an operation")?;
    let Some(listed) = OPERATIONS.iter().find(|listed| listed.keyword == keyword) else {
        if keyword == "kernel" {
            let mistake = "`kernel` calls a kernel that a user has written in Rust, which no text says";
            return cursor.error(at, mistake.to_string());
        }
        let known: Vec<&str> = OPERATIONS.iter().map(|listed| listed.keyword).collect();
        return cursor.error(at, format!("`{keyword}` is none of the operations {}", known.join(", ")));
    };
    let mut attributes = Vec::new();
    while let Token::Number(_) = cursor.peek().token {
        attributes.push(cursor.number("a whole number")?);
    }
    let data: Option<Arc<dyn crate::data::ArrayData>> = match cursor.peek().token {
        Token::Symbol("[") => Some(Arc::new(parse_data(cursor, types)?)),
        _ => None,
    };
    let inputs = match cursor.eat("(") {
        true => {
            let inputs = parse_names(cursor)?;
            cursor.expect(")")?;
            inputs
        }
        false => Vec::new(),
    };
    let place = match cursor.eat("at") {
        true => cursor.place()?,
        false => Place::new(keyword, file, at.line as u32, at.column as u32),
    };
    let mut functions = Vec::new();
    while let Token::Symbol("|") = cursor.peek().token {
        functions.push(parse_function(cursor)?);
    }
    let mut programs = Vec::new();
    while let Token::Symbol("{") = cursor.peek().token {
        if depth == MOST_NESTED {
            let message = format!("loops and branches nest at most {MOST_NESTED} deep");
            return cursor.error(cursor.peek(), message);
        }
        cursor.advance();
        programs.push(parse_body(cursor, file, depth + 1)?);
        cursor.expect("}")?;
    }
    let mut found =
        format!("{} and {}", counted(attributes.len(), "number"), counted(functions.len(), "function"));
    if !programs.is_empty() {
        found = format!("{}, {found}", counted(programs.len(), "program"));
    }
    let (numbers, count, has_data) = (attributes.clone(), functions.len(), data.is_some());
    let nested = programs.len();
    // An operation that does not look at a part does not have it.
    let is_whole = |operation: &Arc<dyn Operation>| {
        operation.attributes() == numbers
            && operation.functions().len() == count
            && matches!(operation.given(), Some(Given::Data(_))) == has_data
            && operation.control().map_or(0, |control| control.programs().len()) == nested
    };
    match (listed.make)(Parts { attributes, functions, data, programs }).filter(is_whole) {
        Some(operation) => Ok((operation, inputs, place)),
        None => cursor.error(at, format!("`{keyword}` has other parts than {found}")),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// One or more arrays, with commas between them.
fn parse_names(cursor: &mut Cursor<'_>) -> Parsed<Vec<NodeId>> {
    let mut names = Vec::new();
    loop {
        names.push(NodeId(cursor.numbered("a", "an array (`a0`)")?));
        if !cursor.eat(",") {
            return Ok(names);
        }
    }
}
