//! A line of a row of figures: is it as ever.

use minijinja::Value;

use super::svg::{Svg, length};

const WIDTH: u32 = 96;
const HEIGHT: u32 = 20;

/// Values at the same distances as a small line; a gap where nothing is known. Nothing if less than two are known.
pub(crate) fn sparkline(values: &[Option<u64>]) -> Value {
    if values.iter().flatten().count() < 2 {
        return Value::from("");
    }
    let most = length(values.iter().flatten().copied().max().unwrap_or(0).max(1));
    let (step, ground) = (
        f64::from(WIDTH) / length(values.len().saturating_sub(1).max(1) as u64),
        f64::from(HEIGHT) - 1.0,
    );
    let mut svg = Svg::spark(WIDTH, HEIGHT);
    let mut run: Vec<(f64, f64)> = Vec::new();
    for index in 0..=values.len() {
        match values.get(index).copied().flatten() {
            Some(value) => {
                let x = step * length(index as u64);
                run.push((x, ground - (ground - 1.0) * length(value) / most));
            }
            None => {
                write(&mut svg, &run, ground);
                run.clear();
            }
        }
    }
    Value::from_safe_string(svg.done())
}

/// Values without a gap between them: the area, and the line above it.
fn write(svg: &mut Svg, run: &[(f64, f64)], ground: f64) {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
    if run.len() == 1 {
        svg.path("", &[(first.0 - 0.5, first.1), (first.0 + 0.5, first.1)]);
        return;
    }
    let mut area = vec![(first.0, ground)];
    area.extend_from_slice(run);
    area.push((last.0, ground));
    svg.path("area", &area);
    svg.path("", run);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_its_least_at_the_ground_to_its_most() {
        let svg = sparkline(&[Some(0), Some(5), Some(10)]).to_string();
        assert!(svg.contains("<path class=\"\" d=\"M0 19L48 10L96 1\"/>"), "{svg}");
    }

    #[test]
    fn unknown_days_are_gaps() {
        let svg = sparkline(&[Some(1), Some(1), None, Some(1), Some(1)]).to_string();
        assert_eq!(svg.matches("<path class=\"\"").count(), 2, "{svg}");
        assert_eq!(sparkline(&[None, Some(3), None]).to_string(), "");
    }
}
