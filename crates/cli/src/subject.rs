//! The subject of a command, a `.pum` file or something built in: the words of a command line, and the options that only a
//! function of a file has. Finds neither files nor programs.

use crate::error::{Error, Result};

/// The words of a command that is about a function of a file, or about something built in.
#[derive(clap::Args)]
pub struct Subject {
    /// A `.pum` file, or the name of something built in.
    #[arg(value_name = "FILE.pum|NAME")]
    name: Option<String>,
    /// Arguments of the file's function: expressions, such as `[1.0, 2.0]` or `(1, true)`, or files.
    ///
    /// Files are .npy (NumPy), .csv (a column is a vector, several are a matrix, of f64) or .png (a matrix of grey values from 0 to 1,
    /// of f32).
    #[arg(value_name = "ARG")]
    arguments: Vec<String>,
    /// The file's function [default: main].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The threads of a block, `#BlockSize` in the file [default: what `pumice tune` found, else 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    block_size: Option<u32>,
}

impl Subject {
    /// Returns whether the command is about a file.
    pub fn is_file(&self) -> bool {
        self.words().iter().any(|word| word.ends_with(".pum"))
    }

    /// Returns the file and the arguments.
    pub fn file(&self) -> Result<(&str, Vec<&str>)> {
        let Some(path) = &self.name else { return Err(Error::Usage("name a `.pum` file".to_string())) };
        if !path.ends_with(".pum") {
            return Err(Error::Usage(format!("`{path}` is no `.pum` file, and the file comes first")));
        }
        Ok((path, self.words().split_off(1)))
    }

    /// Returns the name of the file's function.
    pub fn entry(&self) -> &str {
        self.entry.as_deref().unwrap_or("main")
    }

    /// Returns whether the command line names the function.
    pub fn has_entry(&self) -> bool {
        self.entry.is_some()
    }

    /// Returns the threads of a block, if the command line sets them.
    pub fn block_size(&self) -> Option<u32> {
        self.block_size
    }

    /// Returns the name of something built in, if there is one; options for files are an error.
    pub fn built_in(&self) -> Result<Option<&str>> {
        only("--entry", self.entry.is_some(), "functions of `.pum` files")?;
        only("--block-size", self.block_size.is_some(), "functions of `.pum` files")?;
        match self.arguments.first() {
            Some(word) => Err(Error::Usage(format!("`{}` is one word too many", word.trim_start()))),
            None => Ok(self.name.as_deref()),
        }
    }

    /// Returns all words as they were typed.
    pub fn words(&self) -> Vec<&str> {
        // `command_line` put a blank before a sign.
        self.name.iter().chain(&self.arguments).map(|word| word.trim_start()).collect()
    }
}

/// Returns an error for an option that is given and does not apply.
pub fn only(option: &str, is_given: bool, what: &str) -> Result<()> {
    match is_given {
        true => Err(Error::Usage(format!("{option} is for {what}"))),
        false => Ok(()),
    }
}
