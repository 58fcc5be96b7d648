//! The language of templates: MiniJinja without what could grow without bound.
//!
//! Fuel bounds the steps of a template, not the bytes of a value: forty doublings are forty steps. So a template has no
//! operation whose result can be longer than what it was given, but for `replace` and `join`, which have a bound.
//! The output goes to a writer with a bound of its own.
//!
//! Constructs are found as instructions of the compiled template, branches that are never taken included. That is behind
//! the library's feature `unstable_machinery`: an update may rename an instruction, which the compiler reports.

use std::io;

use minijinja::machinery::{Instruction, Token, get_compiled_template, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, Template, UndefinedBehavior, Value,
    default_auto_escape_callback, escape_formatter, filters, tests,
};

use crate::words::direction;

/// Instructions that one body may take: some hundred times those of a large digest.
const FUEL: u64 = 5_000_000;
/// Maximum number of bytes of a body.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum number of bytes that `replace` or `join` may make.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of `{% set %}` in a template: each may hold a value as long as the body is written.
const SETS_MAX: usize = 100;

/// Maximum number of bytes of a `{{ … }}` or `{% … %}`. What is within may nest, and is read and dropped level by level.
const TAG_BYTES_MAX: usize = 1_000;
/// Maximum number of `{% … %}` in a template: each `{% elif %}` is within the one before.
const STATEMENTS_MAX: usize = 1_000;

/// Something in a template that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForbiddenSyntax {
    /// Counted from 1.
    pub(crate) line: usize,
    /// A construct that templates don't have.
    pub(crate) what: String,
    /// Advice on what to write instead.
    pub(crate) hint: &'static str,
}

/// The first place of a template that could nest deeper than a stack bears; looked for before it is parsed.
pub(crate) fn too_deep(source: &str) -> Option<ForbiddenSyntax> {
    let mut statements = 0;
    let mut rest = source;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let tag = &rest[at..];
        statements += usize::from(tag.starts_with("{%"));
        let length = tag_length(tag);
        if length > TAG_BYTES_MAX || statements > STATEMENTS_MAX {
            let before = source.len() - tag.len();
            return Some(ForbiddenSyntax {
                line: source[..before].matches('\n').count() + 1,
                what: if length > TAG_BYTES_MAX {
                    format!("`{{{{ … }}}}` or `{{% … %}}` of more than {TAG_BYTES_MAX} bytes")
                } else {
                    format!("more than {STATEMENTS_MAX} `{{% … %}}`")
                },
                hint: "make it several, or leave it to the host, which gives what is shown in `data`",
            });
        }
        rest = &tag[length.min(tag.len())..];
    }
    None
}

/// The number of bytes up to the end of a tag. What would end it does not within a text in quotes, or within brackets.
fn tag_length(tag: &str) -> usize {
    let bytes = tag.as_bytes();
    let end: &[u8] = if tag.starts_with("{%") { b"%}" } else { b"}}" };
    let mut quote = None;
    let mut open = 0_i32;
    let mut at = 2;
    while let Some(byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(quoted), byte) if quoted == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, _) if open == 0 && bytes[at..].starts_with(end) => return at + end.len(),
            (None, b'(' | b'[' | b'{') => open += 1,
            (None, b')' | b']' | b'}') => open -= 1,
            (None, _) => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The operators of a template whose results could be longer than what they are given, and the template with others in
/// their places. The library computes what is constant while it compiles: `"a" * 1000000000` takes its memory then.
pub(crate) fn growing(source: &str) -> (Vec<ForbiddenSyntax>, String) {
    let mut found = Vec::new();
    let mut tame = source.to_owned();
    // What can't be read as tokens isn't compiled either.
    for (token, span) in tokenize(source, false, syntax()).map_while(Result::ok) {
        if let Token::Plus | Token::Mul | Token::Pow | Token::Tilde = token {
            found.push(ForbiddenSyntax {
                line: usize::from(span.start_line),
                what: token.to_string(),
                hint: PRINT,
            });
            let place = span.start_offset as usize..span.end_offset as usize;
            let other = if place.len() == 1 { "-" } else { "- " };
            tame.replace_range(place, other);
        }
    }
    (found, tame)
}

fn syntax() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    syntax.expect("the delimiters are the usual ones")
}

/// An environment without templates.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_syntax(syntax());
    environment.set_auto_escape_callback(default_auto_escape_callback);
    // An absent value prints as nothing, so that one event doesn't end its whole message. What nobody gives is
    // found when the configuration is read.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(write_value);
    add_filters(&mut environment);
    add_tests(&mut environment);
    environment
}

/// Writes a value, escaped as its template asks for: the formatter of every template.
///
/// # Errors
/// A value that can't be written.
pub fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    match value.as_str() {
        _ if value.is_none() => Ok(()),
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            write_escaped(out, text).map_err(Error::from)
        }
        _ => escape_formatter(out, state, value),
    }
}

/// Adds the filters whose results are bounded by what they are given.
fn add_filters(environment: &mut Environment<'static>) {
    environment.add_filter("bdi", bdi);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("upper", filters::upper);
    environment.add_filter("title", filters::title);
    environment.add_filter("capitalize", filters::capitalize);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("length", filters::length);
    environment.add_filter("count", filters::length);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("min", filters::min);
    environment.add_filter("max", filters::max);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("unique", filters::unique);
    environment.add_filter("dictsort", filters::dictsort);
    environment.add_filter("items", filters::items);
    environment.add_filter("round", filters::round);
    environment.add_filter("abs", filters::abs);
    environment.add_filter("int", filters::int);
    environment.add_filter("float", filters::float);
}

fn add_tests(environment: &mut Environment<'static>) {
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("number", tests::is_number);
    environment.add_test("integer", tests::is_integer);
    environment.add_test("string", tests::is_string);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("iterable", tests::is_iterable);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("divisibleby", tests::is_divisibleby);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
    environment.add_test("in", tests::is_in);
}

/// Escapes a text, with an element in place of the characters that isolate the direction of names.
fn bdi(text: Option<&str>) -> Result<Value, Error> {
    let mut escaped = String::new();
    write_escaped(&mut escaped, text.unwrap_or_default())?;
    Ok(Value::from_safe_string(direction::in_elements(&escaped)))
}

/// Replaces a text by another, within the bound.
fn replace(_: &State<'_, '_>, text: &str, from: &str, to: &str) -> Result<String, Error> {
    let bytes = text.matches(from).count().saturating_mul(to.len());
    match bytes.saturating_add(text.len()) {
        ..=VALUE_BYTES_MAX => Ok(text.replace(from, to)),
        _ => Err(too_long("replace")),
    }
}

/// Joins the texts of a list, within the bound.
fn join(_: &State<'_, '_>, list: &Value, separator: Option<&str>) -> Result<String, Error> {
    if list.is_undefined() || list.is_none() {
        return Ok(String::new());
    }
    let separator = separator.unwrap_or_default();
    let mut joined = String::new();
    for (at, part) in list.try_iter()?.enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        match part.as_str() {
            Some(text) => joined.push_str(text),
            None if part.is_none() => {}
            None => joined.push_str(&part.to_string()),
        }
        if joined.len() > VALUE_BYTES_MAX {
            return Err(too_long("join"));
        }
    }
    Ok(joined)
}

fn too_long(filter: &str) -> Error {
    let reason = format!("`{filter}` makes a text of more than {VALUE_BYTES_MAX} bytes");
    Error::new(ErrorKind::InvalidOperation, reason)
}

const PRINT: &str = "print values one after the other, such as `{{ a }}{{ b }}`, and let the application compute the rest";
const ESCAPED: &str = "remove it: everything that a template prints is escaped, once";
const FILTERS: &str = "`docs/mail.md` lists the filters that there are";
const IN_PLACE: &str = "write it where it is shown";
const CALLS: &str = "remove the call: templates have variables, filters and tests";

/// Everything in a template that the language does not have, in order, but for what [`growing`] finds.
pub(crate) fn forbidden(
    environment: &Environment<'_>,
    template: &Template<'_, '_>,
) -> Vec<ForbiddenSyntax> {
    let compiled = get_compiled_template(template);
    let mut found = Vec::new();
    let mut sets = 0;
    for part in std::iter::once(&compiled.instructions).chain(compiled.blocks.values()) {
        for (at, instruction) in (0..).map_while(|at| Some((at, part.get(at)?))) {
            sets += usize::from(matches!(instruction, Instruction::StoreLocal(_)));
            let Some((what, hint)) = why_forbidden(environment, instruction, sets) else {
                continue;
            };
            let line = part.get_line(at).unwrap_or(1);
            found.push(ForbiddenSyntax { line, what, hint });
        }
    }
    found.sort_by_key(|one| one.line);
    found.dedup();
    found
}

/// The construct to write instead of one that templates don't have; `None` = they have it.
fn why_forbidden(
    environment: &Environment<'_>,
    instruction: &Instruction<'_>,
    sets: usize,
) -> Option<(String, &'static str)> {
    let is_unknown = |filter: &str| {
        let answer = environment.empty_state().apply_filter(filter, &[]);
        answer.is_err_and(|fault| fault.kind() == ErrorKind::UnknownFilter)
    };
    Some(match instruction {
        Instruction::BuildList(_) | Instruction::BuildTuple(_) | Instruction::BuildMap(_) => {
            ("lists and tables of variables".to_owned(), IN_PLACE)
        }
        // The console's templates have them, so the engine knows them here as well.
        Instruction::BuildMacro(..) => ("`macro` and `call`".to_owned(), IN_PLACE),
        Instruction::ExportLocals => ("`import`".to_owned(), "write `{% include %}`"),
        Instruction::PushAutoEscape => ("`autoescape`".to_owned(), ESCAPED),
        Instruction::ApplyFilter(name @ ("safe" | "e" | "escape"), ..) => {
            (format!("filter `{name}`"), ESCAPED)
        }
        Instruction::ApplyFilter(name, ..) if is_unknown(name) => {
            (format!("filter `{name}`"), FILTERS)
        }
        // `{% extends %}` discards what it captures.
        Instruction::BeginCapture(mode) if format!("{mode:?}") == "Capture" => {
            ("blocks that `set` or `filter` keeps".to_owned(), IN_PLACE)
        }
        Instruction::CallFunction(name, _) => (format!("function `{name}`"), CALLS),
        Instruction::CallMethod("cycle" | "changed", _) => return None,
        Instruction::CallMethod(name, _) => (format!("method `{name}`"), CALLS),
        Instruction::CallObject(_) => ("calls".to_owned(), CALLS),
        Instruction::StoreLocal(_) if sets == SETS_MAX + 1 => (
            format!("room for more than {SETS_MAX} `set` and `for`"),
            "divide it, with `{% include %}`",
        ),
        _ => return None,
    })
}

/// A text that takes no more than a body may have.
#[derive(Default)]
pub(crate) struct BodyText(Vec<u8>);

impl BodyText {
    pub(crate) fn into_text(self) -> String {
        String::from_utf8(self.0).expect("templates print texts")
    }
}

impl io::Write for &mut BodyText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > BODY_BYTES_MAX {
            let reason = format!("it makes a body of more than {BODY_BYTES_MAX} bytes");
            return Err(io::Error::other(reason));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Escapes text for elements and quoted attributes. The library's own way also writes every slash as
/// an entity, which makes links unreadable in a message's source and five bytes a slash longer.
fn write_escaped(out: &mut dyn std::fmt::Write, text: &str) -> std::fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.write_str(&rest[..at])?;
        out.write_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    out.write_str(rest)
}
