//! Secrets, which a configuration names and the environment of the process has.

use std::ffi::OsString;
use std::path::PathBuf;

/// A secret by its name, in the environment of the process: `NAME` is the value of that variable, or the content of the
/// file whose path the variable `NAME_FILE` holds.
///
/// # Errors
/// The reason why it can't be had.
pub fn secret_here(name: &str) -> Result<String, String> {
    secret(name, &|variable| std::env::var_os(variable))
}

/// A secret by its name, in an environment. One from a file keeps no line break at its end, since
/// editors leave one there.
fn secret(name: &str, environment: &dyn Fn(&str) -> Option<OsString>) -> Result<String, String> {
    if let Some(value) = environment(name) {
        return value
            .into_string()
            .map_err(|_| "the value in the environment is not UTF-8".to_owned());
    }
    let variable = format!("{name}_FILE");
    let Some(path) = environment(&variable).map(PathBuf::from) else {
        return Err(format!("set {name}, or {variable}=/path/to/file"));
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|fault| format!("{variable}: {}: {fault}", path.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_comes_from_the_environment_or_from_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        std::fs::write(&path, " s3cret \r\n").unwrap();
        let environment = |variable: &str| match variable {
            "BOTH" | "ONE" => Some(OsString::from("value")),
            "BOTH_FILE" | "OTHER_FILE" => Some(path.clone().into_os_string()),
            "AWAY_FILE" => Some(directory.path().join("away").into_os_string()),
            _ => None,
        };
        let of = |name: &str| secret(name, &environment);
        assert_eq!(of("ONE").as_deref(), Ok("value"));
        assert_eq!(of("BOTH").as_deref(), Ok("value"));
        assert_eq!(of("OTHER").as_deref(), Ok(" s3cret "));
        assert!(of("AWAY").unwrap_err().starts_with("AWAY_FILE: "));
        assert!(of("NONE").unwrap_err().contains("NONE_FILE"));
    }
}
