//! The difference of two texts as a unified diff without context, which `git apply --unidiff-zero` and `patch` take.

use std::fmt::Write as _;
use std::ops::Range;

/// The number of changed lines up to which the shortest difference is looked for.
const CHANGED_MAX: usize = 500;

/// The difference of two texts of a file; empty where they are equal.
#[must_use]
pub fn unified(file_name: &str, before: &str, after: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let hunks = hunks(&old, &new);
    let mut diff = String::new();
    if hunks.is_empty() {
        return diff;
    }
    // A tab ends a name that has spaces.
    let end = if file_name.contains(' ') { "\t" } else { "" };
    // Writing into a String can't fail.
    let _ = write!(diff, "--- a/{file_name}{end}\n+++ b/{file_name}{end}\n");
    for hunk in hunks {
        let _ = writeln!(diff, "@@ -{} +{} @@", range(&hunk.old), range(&hunk.new));
        write_lines(&mut diff, '-', &old[hunk.old]);
        write_lines(&mut diff, '+', &new[hunk.new]);
    }
    diff
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn write_lines(diff: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        diff.push(mark);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The lines of a hunk: the first and their number. Of none it is the line before.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// Lines that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

fn hunks(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = (&old[same..], &new[same..]);
    let end = rest.0.iter().rev().zip(rest.1.iter().rev());
    let end = end.take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[same..old.len() - end], &new[same..new.len() - end]);
    let all = || vec![Hunk { old: 0..old_rest.len(), new: 0..new_rest.len() }];
    let mut hunks = shortest(old_rest, new_rest).unwrap_or_else(all);
    for hunk in &mut hunks {
        for lines in [&mut hunk.old, &mut hunk.new] {
            *lines = lines.start + same..lines.end + same;
        }
    }
    hunks.retain(|hunk| !hunk.old.is_empty() || !hunk.new.is_empty());
    hunks
}

/// The shortest difference, as Myers finds it; `None` = it is too long to be looked for.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Hunk>> {
    let most = CHANGED_MAX.min(old.len() + new.len());
    // Of each diagonal the number of old lines that are passed; the diagonal is old minus new.
    let mut reached = vec![0_usize; 2 * most + 3];
    let centre = most + 1;
    let mut passed = Vec::new();
    for changed in 0..=most {
        passed.push(reached[centre - changed..=centre + changed].to_vec());
        for step in 0..=changed {
            // The diagonal is `down - changed` away from the centre, and `down` keeps it from being negative.
            let at = centre + 2 * step - changed;
            let inserts = step == 0 || (step < changed && reached[at - 1] < reached[at + 1]);
            let mut x = if inserts { reached[at + 1] } else { reached[at - 1] + 1 };
            let Some(mut y) = (x + centre).checked_sub(at) else { continue };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(traced(&passed, (old.len(), new.len())));
            }
        }
    }
    None
}

/// The hunks of a way through both texts, from its end back.
fn traced(passed: &[Vec<usize>], end: (usize, usize)) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut x, mut y) = end;
    for (changed, reached) in passed.iter().enumerate().skip(1).rev() {
        // Index of a diagonal in the row of `changed`.
        let at = x + changed - y;
        let of = |at: usize| reached.get(at).copied().unwrap_or_default();
        let inserts = at == 0 || (at < 2 * changed && of(at - 1) < of(at + 1));
        let before = if inserts { of(at + 1) } else { of(at - 1) };
        let diagonal = if inserts { at + 1 } else { at - 1 };
        let before = (before, before + changed - diagonal);
        let (old, new) = match inserts {
            true => (before.0..before.0, before.1..before.1 + 1),
            false => (before.0..before.0 + 1, before.1..before.1),
        };
        match hunks.last_mut() {
            Some(next) if next.old.start == old.end && next.new.start == new.end => {
                *next = Hunk { old: old.start..next.old.end, new: new.start..next.new.end };
            }
            _ => hunks.push(Hunk { old, new }),
        }
        (x, y) = before;
    }
    hunks.reverse();
    hunks
}
