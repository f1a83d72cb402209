//! Reads the text of scalar functions.
//!
//! It accepts functions without mistakes only: operands have the types that operations want, values are used where they
//! are defined, and every value is used. Any text gives a function or an error with its position: never a
//! panic, however hostile it is. Nothing is simplified, so that a function that was printed comes back as it was.
//!
//! Two things that functions can have are refused. A mistake (`invalid`) is none to build on; and a load promises that its
//! index is in bounds, which no text can.

use std::collections::HashMap;

use self::values::Value;
use super::cursor::{Cursor, ParseError, Parsed, numbered};
use super::lex::{Spanned, Token};
use crate::function::Function;
use crate::graph::{ElementOf, FailureKind, Id, Node, Operands, Site, Variable};
use crate::op::Op;
use crate::schedule::MAX_NESTING;
use crate::types::ScalarType;

mod values;

impl std::str::FromStr for Function {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Function, ParseError> {
        let mut cursor = Cursor::new(text);
        let function = parse_function(&mut cursor)?;
        cursor.expect_end()?;
        Ok(function)
    }
}

/// Reads a function that starts at the cursor, and goes past it.
pub fn parse_function(cursor: &mut Cursor<'_>) -> Parsed<Function> {
    let start = cursor.peek();
    let mut parser = Parser {
        cursor,
        parameters: Vec::new(),
        nodes: Vec::new(),
        leaves: HashMap::new(),
        numbered: None,
        by_name: HashMap::new(),
        values: HashMap::new(),
        visible: Vec::new(),
        depth: 0,
        loops: 0,
    };
    parser.signature()?;
    let results = parser.body()?;
    let function = parser.finish(&results)?;
    match function.mistake() {
        Some(mistake) => cursor.error(start, mistake),
        None => Ok(function),
    }
}

/// A definition: a value's number, or `_`.
struct Defined<'a> {
    at: Spanned<'a>,
    number: Option<u32>,
    ty: ScalarType,
}

struct Parser<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    parameters: Vec<ScalarType>,
    /// The nodes in the order in which they were read.
    nodes: Vec<Node>,
    /// Constants and variables: each is one node.
    leaves: HashMap<Node, Id>,
    /// Whether values have numbers, once one was seen.
    numbered: Option<bool>,
    /// The numbers of values that have names.
    by_name: HashMap<&'a str, u32>,
    /// The values by their numbers; those of names are numbered as the names appear, which means nothing.
    values: HashMap<u32, Value<'a>>,
    /// The values that are defined in the blocks that are open, in order.
    visible: Vec<u32>,
    depth: usize,
    /// Number of loops so far.
    loops: u32,
}

impl<'a> Parser<'_, 'a> {
    /// `|p0: type, ...|`.
    fn signature(&mut self) -> Parsed<()> {
        self.cursor.expect("|")?;
        while !self.cursor.eat("|") {
            let number = self.parameters.len();
            if number > 0 {
                self.cursor.expect(",")?;
            }
            self.cursor.expect(&format!("p{number}"))?;
            self.cursor.expect(":")?;
            self.parameters.push(self.cursor.scalar_type()?);
        }
        Ok(())
    }

    /// `{ ... return results }`.
    fn body(&mut self) -> Parsed<Vec<Id>> {
        self.cursor.expect("{")?;
        self.statements()?;
        self.cursor.expect("return")?;
        let results = match self.cursor.peek().token {
            Token::Symbol("}") => Vec::new(),
            _ => self.operands()?,
        };
        self.cursor.expect("}")?;
        Ok(results)
    }

    fn statements(&mut self) -> Parsed<()> {
        while matches!(self.cursor.peek().token, Token::Var(..) | Token::Word("_")) {
            self.statement()?;
        }
        Ok(())
    }

    /// Reads a line: the values that it defines, and their definition.
    fn statement(&mut self) -> Parsed<()> {
        let defined = self.commas(Self::definition)?;
        self.cursor.expect("=")?;
        match self.cursor.peek().token {
            Token::Word("if") => self.branch(&defined),
            Token::Word("while") => self.repetition(&defined),
            _ => self.simple(&defined),
        }
    }

    /// An operation or a check. It is apart from those with blocks because, not optimised, it needs a lot of stack.
    fn simple(&mut self, defined: &[Defined<'a>]) -> Parsed<()> {
        let at = self.cursor.peek();
        let [one] = defined else {
            return self.cursor.error(at, "this defines one value; `if` and `while` may define several");
        };
        let node = match at.token {
            Token::Word("check") => self.check()?,
            Token::Word("element") => self.element(one.ty)?,
            Token::Word("load" | "guarded") => {
                let message = "a load cannot be read from text, because nothing would check that its index is in bounds";
                return self.cursor.error(at, message);
            }
            Token::Word(name) if Op::from_name(name).is_some() => {
                self.cursor.advance();
                let op = Op::from_name(name).unwrap_or(Op::Not);
                let operands = self.operands()?;
                let types: Vec<ScalarType> = operands.iter().map(|id| self.ty(*id)).collect();
                if !op.accepts(one.ty, &types) {
                    let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                    let message = format!("`{name}` does not make {} from ({})", one.ty, types.join(", "));
                    return self.cursor.error(at, message);
                }
                Node::Apply { op, ty: one.ty, operands: Operands::new(&operands) }
            }
            _ => return self.cursor.expected("an operation, `check`, `element`, `if` or `while`"),
        };
        self.define(one, node)
    }

    /// `check condition, kind, index value, bound value at place`.
    fn check(&mut self) -> Parsed<Node> {
        self.cursor.expect("check")?;
        let condition = self.operand_of(ScalarType::Bool)?;
        self.cursor.expect(",")?;
        let kind = match self.cursor.peek().token {
            Token::Word(name) => FailureKind::from_name(name),
            _ => None,
        };
        let Some(kind) = kind else { return self.cursor.expected("a kind of failure") };
        self.cursor.advance();
        self.cursor.expect(",")?;
        self.cursor.expect("index")?;
        let index = self.operand_of(ScalarType::I64)?;
        self.cursor.expect(",")?;
        self.cursor.expect("bound")?;
        let bound = self.operand_of(ScalarType::I64)?;
        self.cursor.expect("at")?;
        let place = self.cursor.place()?;
        Ok(Node::Check { condition, site: Site { place, kind }, index, bound })
    }

    /// `element array, scalar, [index] at place`, or with `or zero` instead of the place.
    fn element(&mut self, ty: ScalarType) -> Parsed<Node> {
        self.cursor.expect("element")?;
        let array = self.cursor.numbered("a", "an array (`a0`)")?;
        self.cursor.expect(",")?;
        let column = self.cursor.number("which scalar of an element")?;
        self.cursor.expect(",")?;
        self.cursor.expect("[")?;
        let mut index = Vec::new();
        while !self.cursor.eat("]") {
            if !index.is_empty() {
                self.cursor.expect(",")?;
            }
            index.push(self.operand_of(ScalarType::I64)?);
        }
        let site = match self.cursor.eat("or") {
            true => {
                self.cursor.expect("zero")?;
                None
            }
            false => {
                self.cursor.expect("at")?;
                Some(Site { place: self.cursor.place()?, kind: FailureKind::OutOfBounds })
            }
        };
        Ok(Node::Element { of: ElementOf { array, column, ty, site }, index: index.into() })
    }

    /// `if condition { ... yield values } else { ... yield values }`.
    fn branch(&mut self, defined: &[Defined<'a>]) -> Parsed<()> {
        self.cursor.expect("if")?;
        let condition = self.operand_of(ScalarType::Bool)?;
        let types: Vec<ScalarType> = defined.iter().map(|defined| defined.ty).collect();
        let mut sides: [Box<[Id]>; 2] = Default::default();
        for (number, side) in sides.iter_mut().enumerate() {
            if number > 0 {
                self.cursor.expect("else")?;
            }
            *side = self.nested(|parser| {
                parser.statements()?;
                parser.given("yield", &types)
            })?;
        }
        let [then, otherwise] = sides;
        let node = Node::Branch { condition, then, otherwise };
        self.define_values(defined, self.before(defined), node)
    }

    /// `while carry variables { ... } test condition { ... next values }`.
    fn repetition(&mut self, defined: &[Defined<'a>]) -> Parsed<()> {
        self.cursor.expect("while")?;
        let at = self.cursor.peek();
        self.cursor.expect("carry")?;
        let carried = self.commas(|parser| {
            let variable = parser.definition()?;
            parser.cursor.expect("=")?;
            Ok((parser.operand_of(variable.ty)?, variable))
        })?;
        let types: Vec<ScalarType> = carried.iter().map(|(_, variable)| variable.ty).collect();
        if defined.iter().map(|defined| defined.ty).ne(types.iter().copied()) {
            return self
                .cursor
                .error(at, "a loop defines one value for each that it carries, of the same type");
        }
        // Where a loop is printed twice, it is the same loop.
        let before = self.before(defined);
        let number = match before.map(|id| &self.nodes[id.0 as usize]) {
            Some(Node::Loop { number, .. }) => *number,
            _ => {
                self.loops += 1;
                self.loops - 1
            }
        };
        let (mut condition, mut next) = (Id(0), Default::default());
        self.nested_in(|parser| {
            for (index, (_, variable)) in (0..).zip(&carried) {
                if variable.number.is_some() {
                    parser.define(variable, Node::LoopVariable { number, index, ty: variable.ty })?;
                }
            }
            parser.cursor.expect("{")?;
            parser.statements()?;
            parser.cursor.expect("}")?;
            parser.cursor.expect("test")?;
            condition = parser.operand_of(ScalarType::Bool)?;
            parser.cursor.expect("{")?;
            parser.statements()?;
            next = parser.given("next", &types)?;
            parser.cursor.expect("}")
        })?;
        let initial = carried.iter().map(|(initial, _)| *initial).collect();
        self.define_values(defined, before, Node::Loop { number, initial, condition, next })
    }

    /// `{ ... }`, whose values nothing outside sees.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.nested_in(|parser| {
            parser.cursor.expect("{")?;
            let found = inside(parser)?;
            parser.cursor.expect("}")?;
            Ok(found)
        })
    }

    fn nested_in<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_NESTING {
            let message = format!("branches and loops are nested more than {MAX_NESTING} deep");
            return self.cursor.error(self.cursor.peek(), message);
        }
        self.depth += 1;
        let outside = self.visible.len();
        let found = inside(self)?;
        for number in self.visible.drain(outside..) {
            if let Some(value) = self.values.get_mut(&number) {
                value.visible = false;
            }
        }
        self.depth -= 1;
        Ok(found)
    }

    /// A word, and one value of each type.
    fn given(&mut self, word: &str, types: &[ScalarType]) -> Parsed<Box<[Id]>> {
        self.cursor.expect(word)?;
        let at = self.cursor.peek();
        let given = self.operands()?;
        if given.iter().map(|id| self.ty(*id)).ne(types.iter().copied()) {
            let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            return self.cursor.error(at, format!("expected values of types ({})", names.join(", ")));
        }
        Ok(given.into())
    }

    fn operands(&mut self) -> Parsed<Vec<Id>> {
        self.commas(Self::operand)
    }

    /// One or more, with commas between them.
    fn commas<T>(&mut self, one: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.cursor.eat(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn operand_of(&mut self, ty: ScalarType) -> Parsed<Id> {
        let at = self.cursor.peek();
        let id = self.operand()?;
        match self.ty(id) {
            found if found == ty => Ok(id),
            found => {
                self.cursor.error(at, format!("expected a value of type {ty}, found one of type {found}"))
            }
        }
    }

    /// A value, a constant or a variable.
    fn operand(&mut self) -> Parsed<Id> {
        let at = self.cursor.peek();
        if let Token::Var(name, _) = at.token {
            let number = self.value()?;
            return match self.values.get(&number) {
                Some(value) if value.visible => Ok(value.id),
                Some(_) => self.cursor.error(at, format!("`%{name}` is defined in another block")),
                None => self.cursor.error(at, format!("`%{name}` is not defined before")),
            };
        }
        let leaf = match self.cursor.constant()? {
            Some(constant) => Node::Constant(constant),
            None => self.variable()?,
        };
        if let Some(known) = self.leaves.get(&leaf) {
            return Ok(*known);
        }
        let id = self.add(leaf.clone());
        self.leaves.insert(leaf, id);
        Ok(id)
    }

    fn variable(&mut self) -> Parsed<Node> {
        const WHAT: &str = "a value, a constant, a parameter, `argument0:type` or `extent(a0, 0)`";
        let at = self.cursor.peek();
        let Token::Word(word) = at.token else { return self.cursor.expected(WHAT) };
        if word == "extent" {
            self.cursor.advance();
            self.cursor.expect("(")?;
            let array = self.cursor.numbered("a", "an array (`a0`)")?;
            self.cursor.expect(",")?;
            let dimension = self.cursor.number("a dimension")?;
            self.cursor.expect(")")?;
            return Ok(Node::Variable(Variable::Extent { array, dimension }, ScalarType::I64));
        }
        if let Some(index) = numbered::<u32>(word, "p") {
            self.cursor.advance();
            return match self.parameters.get(index as usize) {
                Some(ty) => Ok(Node::Variable(Variable::Parameter(index), *ty)),
                None => self.cursor.error(at, format!("there is no parameter `{word}`")),
            };
        }
        let variable = numbered(word, "argument").map(Variable::Argument);
        let Some(variable) = variable.or_else(|| numbered(word, "local").map(Variable::Local)) else {
            return self.cursor.expected(WHAT);
        };
        self.cursor.advance();
        self.cursor.expect(":")?;
        Ok(Node::Variable(variable, self.cursor.scalar_type()?))
    }
}
