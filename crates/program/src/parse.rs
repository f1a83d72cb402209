//! Reads the text that [`crate::text`] prints.
//!
//! The result is a program exactly as it was printed; whether it is well formed is for [`mod@crate::verify`] to say. Any
//! text gives a program or an error that says where: never a panic, however hostile it is.
//!
//! Two things are for people who write programs by hand. Variables may go without their numbers (`%x` for `%x.3`), if
//! all of them do; they are then numbered as they appear, and those of one name are one variable. And comments may
//! stand anywhere; those between statements become part of the program.

use std::collections::{HashMap, HashSet};

use pumice_scalar::text::lex::{Spanned, Token, unescape};
use pumice_scalar::text::{Cursor, ParseError, Parsed};
use pumice_scalar::{MAX_NESTING, Op, ScalarType};

use crate::ir::{
    Access, AtomicOp, Carried, CollectiveOp, Failure, Joined, Memory, MemoryId, Operand, Param, Program,
    Scope, Space, Stmt, Var, VarInfo, Workers,
};
use crate::verify::is_identifier;

/// Reads a program.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let parser = Parser {
        cursor: Cursor::new(text),
        depth: 0,
        numbered: None,
        by_name: HashMap::new(),
        vars: HashMap::new(),
        exact: HashSet::new(),
        memories: Vec::new(),
        memory_names: HashMap::new(),
    };
    parser.program()
}

impl std::str::FromStr for Program {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Program, ParseError> {
        parse(text)
    }
}

/// A variable that was mentioned.
struct Known<'a> {
    name: &'a str,
    /// Its type, once its definition was seen.
    ty: Option<ScalarType>,
    /// First mention.
    first: Spanned<'a>,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: usize,
    /// Whether variables have numbers, once one was seen.
    numbered: Option<bool>,
    /// The variables without numbers.
    by_name: HashMap<&'a str, u32>,
    /// All variables, by number.
    vars: HashMap<u32, Known<'a>>,
    /// The variables whose operation is marked as exact.
    exact: HashSet<u32>,
    memories: Vec<Memory>,
    memory_names: HashMap<&'a str, MemoryId>,
}

/// List of statements, with the values after `next` or `yield` that end it, if there are any.
struct List {
    statements: Vec<Stmt>,
    given: Vec<Operand>,
}

impl<'a> Parser<'a> {
    // Names.

    /// A variable, defined or used.
    fn var(&mut self) -> Parsed<Var> {
        let at = self.cursor.peek();
        let Token::Var(name, number) = at.token else {
            return self.cursor.expected("a variable");
        };
        if !is_identifier(name) {
            return self.cursor.error(at, format!("`%{name}` is not a name"));
        }
        let numbered = *self.numbered.get_or_insert(number.is_some());
        let number = match number {
            Some(digits) if numbered => match digits.parse() {
                Ok(number) => number,
                Err(_) => {
                    return self
                        .cursor
                        .error(at, format!("the number of variable `%{name}.{digits}` is too large"));
                }
            },
            None if !numbered => {
                let next = self.by_name.len() as u32;
                *self.by_name.entry(name).or_insert(next)
            }
            _ => return self.cursor.error(at, "either all variables have numbers or none"),
        };
        let known = self.vars.entry(number).or_insert(Known { name, ty: None, first: at });
        if known.name != name {
            let message = format!("variable {number} is called `{name}` here and `{}` before", known.name);
            return self.cursor.error(at, message);
        }
        self.cursor.advance();
        Ok(Var(number))
    }

    /// `%x: type`.
    fn definition(&mut self) -> Parsed<Var> {
        let at = self.cursor.peek();
        let var = self.var()?;
        self.cursor.expect(":")?;
        let ty = self.cursor.scalar_type()?;
        let mut other = None;
        if let Some(known) = self.vars.get_mut(&var.0) {
            other = known.ty.filter(|&known| known != ty);
            known.ty = Some(ty);
        }
        match other {
            Some(other) => {
                self.cursor.error(at, format!("the variable has type {ty} here and {other} before"))
            }
            None => Ok(var),
        }
    }

    fn memory(&mut self) -> Parsed<MemoryId> {
        let at = self.cursor.peek();
        let Token::At(name) = at.token else {
            return self.cursor.expected("a memory");
        };
        match self.memory_names.get(name) {
            Some(&id) => {
                self.cursor.advance();
                Ok(id)
            }
            None => self.cursor.error(at, format!("there is no memory `@{name}`")),
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if let Token::Var(..) = self.cursor.peek().token {
            return self.var().map(Operand::Var);
        }
        match self.cursor.constant()? {
            Some(constant) => Ok(Operand::Constant(constant)),
            None => self.cursor.expected("a variable or a constant"),
        }
    }

    /// One or more, with commas between them.
    fn commas<T>(&mut self, one: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.cursor.eat(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    // The program.

    fn program(mut self) -> Parsed<Program> {
        self.cursor.expect("kernel")?;
        let name = self.cursor.word("the name of the kernel")?.to_owned();
        while self.cursor.eat("memory") {
            self.memory_declaration()?;
        }
        let params = match self.cursor.eat("params") {
            true => self.commas(Self::param)?,
            false => Vec::new(),
        };
        let failure = match self.cursor.eat("failure") {
            true => {
                let memory = self.memory()?;
                self.cursor.expect("+")?;
                Some(Failure { memory, base: self.var()? })
            }
            false => None,
        };
        let stop = if self.cursor.eat("stop") { Some(self.memory()?) } else { None };
        if self.cursor.eat("spare") {
            self.commas(Self::definition)?;
        }
        self.cursor.expect("threads")?;
        let threads = self.cursor.number("the number of threads")?;
        let resident = match self.cursor.eat("resident") {
            true => self.cursor.number("the number of blocks")?,
            false => 1,
        };
        let prologue = match self.cursor.eat("prologue") {
            true => self.block()?,
            false => Vec::new(),
        };
        self.cursor.expect("blocks")?;
        let block = self.definition()?;
        self.cursor.expect("<")?;
        let blocks = self.operand()?;
        self.cursor.expect("body")?;
        let body = self.block()?;
        self.cursor.expect_end()?;
        let vars = self.finish_vars()?;
        Ok(Program {
            name,
            params,
            vars,
            memories: self.memories,
            threads,
            resident,
            prologue,
            blocks,
            block,
            body,
            failure,
            stop,
        })
    }

    fn memory_declaration(&mut self) -> Parsed<()> {
        let at = self.cursor.peek();
        let Token::At(name) = at.token else {
            return self.cursor.expected("a memory");
        };
        let id = MemoryId(self.memories.len() as u32);
        if !is_identifier(name) {
            return self.cursor.error(at, format!("`@{name}` is not a name"));
        }
        if self.memory_names.insert(name, id).is_some() {
            return self.cursor.error(at, format!("there is a memory `@{name}` already"));
        }
        self.cursor.advance();
        self.cursor.expect(":")?;
        let (ty, space) = if self.cursor.eat("global") {
            let access = if self.cursor.eat("read") {
                Access::Read
            } else if self.cursor.eat("write") {
                Access::Write
            } else if self.cursor.eat("readwrite") {
                Access::ReadWrite
            } else {
                return self.cursor.expected("`read`, `write` or `readwrite`");
            };
            (self.cursor.scalar_type()?, Space::Global { access })
        } else if self.cursor.eat("shared") {
            let ty = self.cursor.scalar_type()?;
            self.cursor.expect("[")?;
            let length = self.cursor.number("the number of elements")?;
            self.cursor.expect("]")?;
            (ty, Space::Shared { length })
        } else if self.cursor.eat("private") {
            let ty = self.cursor.scalar_type()?;
            self.cursor.expect("[")?;
            let length = self.cursor.number("the number of elements")?;
            self.cursor.expect("]")?;
            (ty, Space::Private { length })
        } else {
            return self.cursor.expected("`global`, `shared` or `private`");
        };
        self.memories.push(Memory { name: name.to_owned(), ty, space });
        Ok(())
    }

    fn param(&mut self) -> Parsed<Param> {
        match self.cursor.peek().token {
            Token::At(_) => self.memory().map(Param::Memory),
            _ => self.definition().map(Param::Scalar),
        }
    }

    /// The variables in the order of their numbers, if there is one for each.
    fn finish_vars(&self) -> Parsed<Vec<VarInfo>> {
        let mut vars = Vec::with_capacity(self.vars.len());
        for number in 0..self.vars.len() as u32 {
            let Some(known) = self.vars.get(&number) else {
                let last = self.vars.keys().max().copied().unwrap_or_default();
                let at = self.vars.get(&last).map_or(self.cursor.peek_with_comments(), |known| known.first);
                return self.cursor.error(
                    at,
                    format!("there is a variable with number {last}, and none with number {number}"),
                );
            };
            match known.ty {
                Some(ty) => {
                    vars.push(VarInfo {
                        ty,
                        name: known.name.to_owned(),
                        exact: self.exact.contains(&number),
                    });
                }
                None => return self.cursor.error(known.first, format!("`%{}` is never defined", known.name)),
            }
        }
        Ok(vars)
    }

    // Statements.

    /// `{ ... }` that gives no values.
    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.list(None).map(|list| list.statements)
    }

    /// `{ ... }`, ending with this word and some values, if there is one.
    fn list(&mut self, ending: Option<(&str, usize)>) -> Parsed<List> {
        self.cursor.expect("{")?;
        self.depth += 1;
        // The body itself is a list too.
        if self.depth > MAX_NESTING + 1 {
            let at = self.cursor.peek();
            return self.cursor.error(at, format!("statements are nested more than {MAX_NESTING} deep"));
        }
        let mut statements = Vec::new();
        while let Some(stmt) = self.statement()? {
            statements.push(stmt);
        }
        let mut given = Vec::new();
        if let Some((word, count)) = ending
            && count > 0
        {
            self.cursor.expect(word)?;
            let at = self.cursor.peek();
            given = self.commas(Self::operand)?;
            if given.len() != count {
                return self.cursor.error(at, format!("expected {count} values, found {}", given.len()));
            }
        }
        if self.cursor.peek().token != Token::Symbol("}") {
            return self.cursor.expected("a statement or `}`");
        }
        self.cursor.advance();
        self.depth -= 1;
        Ok(List { statements, given })
    }

    /// The next statement, if one starts here.
    fn statement(&mut self) -> Parsed<Option<Stmt>> {
        match self.cursor.peek_with_comments().token {
            Token::Word("if") => self.branch(Vec::new()).map(Some),
            Token::Word("for") => self.for_loop().map(Some),
            Token::Word("while") => self.while_loop().map(Some),
            Token::Word(word @ ("parallel" | "warps" | "lanes")) => self.parallel(word).map(Some),
            Token::Var(..) => self.defining().map(Some),
            _ => self.simple(),
        }
    }

    /// The next statement that neither has others inside nor starts with a variable. It is apart from those because, not
    /// optimised, it needs a lot of stack.
    fn simple(&mut self) -> Parsed<Option<Stmt>> {
        let stmt = match self.cursor.peek_with_comments().token {
            Token::Comment(text) => {
                self.cursor.comment();
                Stmt::Comment(unescape(text))
            }
            Token::Word("store") => {
                self.cursor.advance();
                let (memory, index) = self.place()?;
                self.cursor.expect("=")?;
                Stmt::Store { memory, index, values: self.commas(Self::operand)? }
            }
            Token::Word("sync") => {
                self.cursor.advance();
                Stmt::Sync { scope: if self.cursor.eat("warp") { Scope::Warp } else { Scope::Block } }
            }
            Token::Word("fence") => {
                self.cursor.advance();
                let scope = if self.cursor.eat("warp") {
                    Scope::Warp
                } else if self.cursor.eat("block") {
                    Scope::Block
                } else if self.cursor.eat("grid") {
                    Scope::Grid
                } else {
                    return self.cursor.expected("`warp`, `block` or `grid`");
                };
                Stmt::Fence { scope }
            }
            Token::Word("atomic") => self.atomic(None)?,
            Token::Word("fail") => {
                self.cursor.advance();
                let site = self.cursor.number("the number of a place")?;
                self.cursor.expect("unless")?;
                let unless = self.operand()?;
                self.cursor.expect(",")?;
                self.cursor.expect("index")?;
                let index = self.operand()?;
                self.cursor.expect(",")?;
                self.cursor.expect("bound")?;
                Stmt::Fail { unless, site, index, bound: self.operand()? }
            }
            _ => return Ok(None),
        };
        Ok(Some(stmt))
    }

    fn parallel(&mut self, word: &str) -> Parsed<Stmt> {
        self.cursor.advance();
        let workers = match word {
            "warps" => Workers::Warps,
            "lanes" => Workers::Lanes,
            _ => Workers::Threads,
        };
        let var = self.definition()?;
        self.cursor.expect("<")?;
        let extent = self.operand()?;
        Ok(Stmt::Parallel { workers, var, extent, body: self.block()? })
    }

    /// A statement that starts with the variables it defines.
    fn defining(&mut self) -> Parsed<Stmt> {
        let at = self.cursor.peek();
        let vars = self.commas(Self::definition)?;
        self.cursor.expect("=")?;
        match self.cursor.peek().token {
            Token::Word("if") => self.branch(vars),
            _ => self.defined(at, vars),
        }
    }

    /// Parses what follows the variables that a statement defines, for a statement without others inside.
    fn defined(&mut self, at: Spanned<'a>, vars: Vec<Var>) -> Parsed<Stmt> {
        if self.cursor.eat("load") {
            let (memory, index) = self.place()?;
            return Ok(Stmt::Load { vars, memory, index });
        }
        if let Token::Word("atomic") = self.cursor.peek().token {
            let [var] = vars[..] else {
                return self.cursor.error(at, "`atomic` defines one variable");
            };
            return self.atomic(Some(var));
        }
        let Token::Word(name) = self.cursor.peek().token else {
            return self.cursor.expected("an operation, `load` or `if`");
        };
        if let Some(op) = CollectiveOp::ALL.into_iter().find(|op| op.name() == name) {
            self.cursor.advance();
            let [var] = vars[..] else {
                return self.cursor.error(at, format!("`{name}` defines one variable"));
            };
            return Ok(Stmt::Collective { var, op, operands: self.commas(Self::operand)? });
        }
        let Some(op) = Op::from_name(name) else {
            return self.cursor.expected("an operation, `load` or `if`");
        };
        self.cursor.advance();
        let [var] = vars[..] else {
            return self.cursor.error(at, "an operation defines one variable");
        };
        if let Token::Symbol("!") = self.cursor.peek().token {
            self.cursor.advance();
            self.exact.insert(var.0);
        }
        Ok(Stmt::Let { var, op, operands: self.commas(Self::operand)? })
    }

    /// `atomic op @memory[index], operands`.
    fn atomic(&mut self, var: Option<Var>) -> Parsed<Stmt> {
        self.cursor.expect("atomic")?;
        let found = match self.cursor.peek().token {
            Token::Word(name) => AtomicOp::ALL.into_iter().find(|op| op.name() == name),
            _ => None,
        };
        let Some(op) = found else {
            return self.cursor.expected("an atomic operation");
        };
        self.cursor.advance();
        let (memory, index) = self.place()?;
        let operands = match self.cursor.peek().token {
            Token::Symbol(",") => {
                self.cursor.advance();
                self.commas(Self::operand)?
            }
            _ => Vec::new(),
        };
        Ok(Stmt::Atomic { var, op, memory, index, operands })
    }

    /// `@memory[index]`.
    fn place(&mut self) -> Parsed<(MemoryId, Operand)> {
        let memory = self.memory()?;
        self.cursor.expect("[")?;
        let index = self.operand()?;
        self.cursor.expect("]")?;
        Ok((memory, index))
    }

    fn branch(&mut self, vars: Vec<Var>) -> Parsed<Stmt> {
        self.cursor.expect("if")?;
        let condition = self.operand()?;
        let ending = Some(("yield", vars.len()));
        let then = self.list(ending)?;
        let otherwise = match self.cursor.eat("else") {
            true => self.list(ending)?,
            false if vars.is_empty() => List { statements: Vec::new(), given: Vec::new() },
            false => return self.cursor.expected("`else`"),
        };
        let given = then.given.into_iter().zip(otherwise.given);
        let results = vars
            .into_iter()
            .zip(given)
            .map(|(var, (then, otherwise))| Joined { var, then, otherwise })
            .collect();
        Ok(Stmt::If { condition, then: then.statements, otherwise: otherwise.statements, results })
    }

    /// `carry %x: type = initial, ...`, if there is one.
    fn carry(&mut self) -> Parsed<Vec<(Var, Operand)>> {
        match self.cursor.eat("carry") {
            true => self.commas(|parser| {
                let var = parser.definition()?;
                parser.cursor.expect("=")?;
                Ok((var, parser.operand()?))
            }),
            false => Ok(Vec::new()),
        }
    }

    /// The body of a loop.
    fn loop_body(&mut self, carry: Vec<(Var, Operand)>) -> Parsed<(Vec<Carried>, Vec<Stmt>)> {
        let list = self.list(Some(("next", carry.len())))?;
        let carried = carry.into_iter().zip(list.given);
        let carried = carried.map(|((var, initial), next)| Carried { var, initial, next }).collect();
        Ok((carried, list.statements))
    }

    fn for_loop(&mut self) -> Parsed<Stmt> {
        self.cursor.expect("for")?;
        let var = self.definition()?;
        self.cursor.expect("in")?;
        let start = self.operand()?;
        self.cursor.expect("..")?;
        let end = self.operand()?;
        self.cursor.expect("step")?;
        let step = self.operand()?;
        let carry = self.carry()?;
        let (carried, body) = self.loop_body(carry)?;
        Ok(Stmt::For { var, start, end, step, carried, body })
    }

    fn while_loop(&mut self) -> Parsed<Stmt> {
        self.cursor.expect("while")?;
        let carry = self.carry()?;
        let header = self.block()?;
        self.cursor.expect("test")?;
        let condition = self.operand()?;
        let (carried, body) = self.loop_body(carry)?;
        Ok(Stmt::While { carried, header, condition, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    const TEXT: &str = "kernel k
memory @m: global readwrite f32
memory @s: shared i64[8]
params @m, %n.0: i64
threads 8
prologue {
  %x.1: i64 = add! %n.0, -5:i64
}
blocks %block.2: i64 < %x.1
body {
  // a \\\\ comment \\n of two lines
  %c.3: bool = lt %x.1, 9223372036854775807:i64
  %p.4: f32, %q.5: f32 = if %c.3 {
    yield nan:7fc00001:f32, -inf:f32
  } else {
    yield 1e-7:f32, inf:f32
  }
  sync
  parallel %i.6: i64 < 8:i64 {
    for %k.7: i64 in 0:i64..%n.0 step 2:i64 carry %a.8: f32 = %p.4, %b.9: f32 = 0.5:f32 {
      %l.10: f32, %r.11: f32 = load @m[%k.7]
      store @m[%k.7] = %r.11, %l.10
      next %b.9, %l.10
    }
    //
    while carry %w.12: u32 = 4294967295:u32 {
      %d.13: bool = eq %w.12, 0:u32
    } test %d.13 {
      next %w.12
    }
    while {
    } test false {
    }
    if true {
      store @m[%i.6] = %a.8
    }
  }
}
";

    #[test]
    fn every_statement_reads_back() {
        let program = parse(TEXT).unwrap();
        assert_eq!(program.to_string(), TEXT);
        crate::check(&program).unwrap();
        assert!(matches!(&program.body[0], Stmt::Comment(text) if text == "a \\ comment \n of two lines"));
        assert!(program.vars[1].exact);
    }

    #[test]
    fn numbers_may_be_left_out() {
        let without: String = {
            let mut text = String::new();
            let mut rest = TEXT;
            while let Some(at) = rest.find('%') {
                let name = 1 + rest[at + 1..].find('.').unwrap();
                text.push_str(&rest[..at + name]);
                rest = rest[at + name + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
            }
            text + rest
        };
        assert!(!without.contains("%x.1"));
        assert_eq!(parse(&without).unwrap().to_string(), TEXT);
    }

    #[test]
    fn programs_with_undefined_and_unused_variables_read_back() {
        let mut program = parse(TEXT).unwrap();
        program.add_var(ScalarType::U64, "spare");
        program.body.push(Stmt::Let {
            var: Var(13),
            op: Op::Not,
            operands: vec![Operand::Constant(true.into())],
        });
        let text = program.to_string();
        assert!(text.contains("spare %spare.14: u64"), "{text}");
        assert_eq!(parse(&text), Ok(program));
    }

    #[test]
    fn errors_say_where_and_what() {
        let head = "kernel k\nthreads 1\nblocks %b: i64 < 1:i64\nbody {\n";
        let in_body = |statement: &str| error(&format!("{head}  {statement}\n}}\n"));
        assert_eq!(error(""), "line 1, column 1: expected `kernel`, found the end of the text");
        assert_eq!(error("kernel k\nblocks"), "line 2, column 1: expected `threads`, found `blocks`");
        assert_eq!(
            error("kernel k\nthreads x"),
            "line 2, column 9: expected the number of threads, found `x`"
        );
        assert_eq!(
            in_body("%x: i64 = ad %b"),
            "line 5, column 13: expected an operation, `load` or `if`, found `ad`"
        );
        assert_eq!(in_body("%x: i64 = add %b, 1:i65"), "line 5, column 23: expected a type, found `i65`");
        assert_eq!(
            in_body("%x: i32 = add 1:i32, 3000000000:i32"),
            "line 5, column 24: `3000000000` is not a value of type i32"
        );
        assert_eq!(in_body("%x: i64 = add %b, %y"), "line 5, column 21: `%y` is never defined");
        assert_eq!(
            in_body("%x.1: i64 = add %b, %b"),
            "line 5, column 3: either all variables have numbers or none"
        );
        assert_eq!(in_body("%7: i64 = add %b, %b"), "line 5, column 3: `%7` is not a name");
        assert_eq!(in_body("store @m[%b] = %b"), "line 5, column 9: there is no memory `@m`");
        assert_eq!(
            in_body("%b: i32 = add 1:i32, 1:i32"),
            "line 5, column 3: the variable has type i32 here and i64 before"
        );
        assert_eq!(in_body("if true { } else"), "line 6, column 1: expected `{`, found `}`");
        assert_eq!(
            in_body("%x: i64 = if true { yield 1:i64 }"),
            "line 6, column 1: expected `else`, found `}`"
        );
        assert_eq!(
            in_body("while carry %x: i64 = 1:i64 { } test true { next 1:i64, 2:i64 }"),
            "line 5, column 52: expected 1 values, found 2"
        );
        assert_eq!(in_body("next"), "line 5, column 3: expected a statement or `}`, found `next`");
        assert_eq!(
            error(&format!("{head}}} x")),
            "line 5, column 3: expected the end of the text, found `x`"
        );
        assert_eq!(
            error("kernel k threads 1 blocks %b.1: i64 < 1:i64 body { }"),
            "line 1, column 27: there is a variable with number 1, and none with number 0"
        );
        assert_eq!(
            error("kernel k threads 1 blocks %b.99999999999: i64 < 1:i64 body { }"),
            "line 1, column 27: the number of variable `%b.99999999999` is too large"
        );
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = format!(
            "kernel k threads 1 blocks %b: i64 < 1:i64 body {{ {} {} }}",
            "if true { ".repeat(100_000),
            "}".repeat(100_000)
        );
        assert!(error(&text).contains("nested more than"));
    }

    #[test]
    fn nesting_is_bounded_as_the_verifier_bounds_it() {
        let nested = |levels: usize| {
            let body = "if true { ".repeat(levels) + &"} ".repeat(levels);
            format!("kernel k threads 1 blocks %b: i64 < 1:i64 body {{ {body} }}")
        };
        let deepest = parse(&nested(MAX_NESTING)).expect("it is not too deep");
        assert_eq!(crate::check(&deepest), Ok(()));
        for levels in [MAX_NESTING + 1, 200_000] {
            let error = parse(&nested(levels)).expect_err("it is too deep").to_string();
            assert!(error.contains("nested more than 200 deep"), "{error}");
        }
    }
}
