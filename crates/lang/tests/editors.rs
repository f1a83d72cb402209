//! Editor grammars agree with the language.

const GUIDE: &str = include_str!("../../../docs/pum.md");
const GRAMMAR: &str = include_str!("../../../editors/vscode/syntaxes/pum.tmLanguage.json");

#[test]
fn editors_know_the_words_that_are_no_names() {
    let start = GUIDE.find("Words that are no names: `").expect("the guide lists the words");
    let list = GUIDE[start..].split('`').nth(1).expect("the list is in backticks");
    let words: Vec<&str> = list.split_whitespace().collect();
    assert!(words.len() > 20, "{words:?}");
    for word in words {
        assert!(
            GRAMMAR.split(|sign: char| !sign.is_ascii_alphanumeric()).any(|known| known == word),
            "{word}"
        );
        // They are words of the language, too: none is the name of a function.
        let parsed =
            pumice_lang::syntax::parse(pumice_lang::source::FileId(0), &format!("fun {word} = 1"), &mut 0);
        let contextual = ["order", "group", "by", "take", "distinct", "descending"].contains(&word);
        assert_eq!(parsed.errors.is_empty(), contextual, "{word}");
    }
}
