//! Additions to a program's own file that are not written in it: items that were typed at a prompt and replace those of the same name,
//! and values that were computed before. Knows no types but those of the values, and reads no files.

use crate::ast::{Expr, ExprId, ExprKind, Function, Module};
use crate::program::Expression;
use crate::source::FileId;
use crate::types::Type;
use pumice_scalar::Constant;

/// Additions to a program's own file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// Texts of items, in order. An item replaces an earlier one of the same name; a signature may come before its function.
    pub texts: &'a [Text],
    /// Functions that are left out, with their signatures.
    pub without: &'a [String],
    /// Values that functions and the expression use by name.
    pub given: &'a [Given],
    /// One more function: [`EXPRESSION`](crate::program::EXPRESSION).
    pub expression: Option<Expression<'a>>,
}

/// A text, with the name of the place where it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its name in messages.
    pub name: String,
    /// The source text.
    pub text: String,
}

/// A value from outside. Its arrays are arguments of the compiled program; its numbers are compiled into the program, as literals are.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Its name in the program.
    pub name: String,
    /// Its type, which has no variables.
    pub ty: Type,
    /// The scalars of all its parts that are not arrays, in the order of the type.
    pub scalars: Vec<Constant>,
}

impl Given {
    /// Returns the value's signature, as source text.
    pub(crate) fn signature(&self) -> String {
        format!("sig {} : {}", self.name, self.ty)
    }
}

/// Adds items to a file in place of those that have the same names.
pub(crate) fn replace_items(module: &mut Module, added: Module) {
    let is_new = |name: &str| added.functions.iter().any(|function| &*function.name.name == name);
    let is_signed = |name: &str| added.signatures.iter().any(|signature| &*signature.name.name == name);
    // A signature that has no function yet is the signature of the new function.
    let waits =
        |module: &Module, name: &str| !module.functions.iter().any(|function| &*function.name.name == name);
    let kept = |signature: &crate::ast::Signature| {
        let name = &*signature.name.name;
        !is_signed(name) && (!is_new(name) || waits(module, name))
    };
    let signatures = module.signatures.iter().filter(|signature| kept(signature)).cloned().collect();
    module.signatures = signatures;
    module.functions.retain(|function| !is_new(&function.name.name));
    module.types.retain(|old| added.types.iter().all(|new| new.name.name != old.name.name));
    module.imports.retain(|old| added.imports.iter().all(|new| new.module.name != old.module.name));
    module.imports.extend(added.imports);
    module.signatures.extend(added.signatures);
    module.functions.extend(added.functions);
    module.types.extend(added.types);
}

/// Adds a value whose signature is in `signed`: a function without parameters whose body is never evaluated.
pub(crate) fn add_given(module: &mut Module, mut signed: Module, next_expression: &mut u32) {
    for signature in &signed.signatures {
        let body = Expr { id: ExprId(*next_expression), span: signature.span, kind: ExprKind::Error };
        *next_expression += 1;
        let (name, span) = (signature.name.clone(), signature.span);
        signed.functions.push(Function { docs: None, name, parameters: Vec::new(), body, span });
    }
    replace_items(module, signed);
}

/// Leaves out functions, and the signatures of those that are not there yet in files from `added` on.
pub(crate) fn leave_out(module: &mut Module, without: &[String], added: FileId) {
    let is_out = |name: &str| without.iter().any(|other| other == name);
    module.functions.retain(|function| !is_out(&function.name.name));
    let has = |name: &str| module.functions.iter().any(|function| &*function.name.name == name);
    module.signatures.retain(|signature| {
        let name = &*signature.name.name;
        (signature.span.file < added && !is_out(name)) || has(name)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn module(file: u32, text: &str) -> Module {
        parse(FileId(file), text, &mut 0).module
    }

    fn names(module: &Module) -> String {
        let signatures = module.signatures.iter().map(|item| format!("sig {}", item.name.name));
        let functions = module.functions.iter().map(|item| item.name.name.to_string());
        let types = module.types.iter().map(|item| item.name.name.to_string());
        signatures.chain(functions).chain(types).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_new_function_takes_the_place_of_the_old_one_and_of_its_signature() {
        let mut file = module(0, "sig f : int -> int\nfun f x = x\nfun g = f 1\ntype T = int");
        replace_items(&mut file, module(1, "fun f x = x + 1.0"));
        assert_eq!(names(&file), "g, f, T");
        replace_items(&mut file, module(2, "sig g : int"));
        assert_eq!(names(&file), "sig g, g, f, T");
        replace_items(&mut file, module(3, "type T = f32"));
        assert_eq!((names(&file).as_str(), file.types.len()), ("sig g, g, f, T", 1));
    }

    #[test]
    fn a_signature_waits_for_its_function() {
        let mut file = module(0, "fun g = 1");
        replace_items(&mut file, module(1, "sig f : int -> int"));
        let mut without_function = file.clone();
        leave_out(&mut without_function, &[], FileId(1));
        assert_eq!(names(&without_function), "g");
        replace_items(&mut file, module(2, "fun f x = x"));
        leave_out(&mut file, &[], FileId(1));
        assert_eq!(names(&file), "sig f, g, f");
        leave_out(&mut file, &["f".to_string()], FileId(1));
        assert_eq!(names(&file), "g");
    }
}
