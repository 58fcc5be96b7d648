//! Templates of a host's own.

use tidings_core::Rules;
use tidings_core::rules::TypeRules;
use tidings_mail::{DEFAULT_TEMPLATES, Design, DesignError, RenderError, sample};

use crate::fixture::{assert_proper, bodies, id, of_titles, sender};

fn rules(templates: &[(&str, &str)]) -> Rules {
    let mut rules = Rules::default();
    let kind = TypeRules {
        category: "works".to_owned(),
        ..TypeRules::default()
    };
    rules.types.insert("artwork_published".to_owned(), kind);
    rules.presentation.templates = templates
        .iter()
        .map(|(name, source)| ((*name).to_owned(), (*source).to_owned()))
        .collect();
    rules
}

fn design(templates: &[(&str, &str)]) -> Result<Design, DesignError> {
    Design::new(sender(), &rules(templates))
}

/// The fault that the trial of one template finds.
fn fault_of(name: &str, source: &str) -> String {
    let design = match design(&[(name, source)]) {
        Ok(design) => design,
        Err(fault) => return fault.to_string(),
    };
    let faults = design.faults(&rules(&[(name, source)]));
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("\n")
}

const WORK: &str = "email/artwork_published.html";

#[test]
fn a_types_template_shows_its_items_in_the_digest_and_alone() {
    let block = "<p>{% if alone %}only {% endif %}{{ item.title }}, {{ item.data.medium|default('?') }}</p>";
    let design = design(&[(WORK, block)]).unwrap();
    assert_eq!(design.faults(&rules(&[(WORK, block)])), []);
    let render = |titles: &[&str]| {
        let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
        let mail = tidings_mail::render(&of_titles(&titles), &design).unwrap();
        assert_proper(&mail);
        bodies(&mail).1
    };
    assert!(render(&["A <b>"]).contains("<p>only A &lt;b&gt;, ?</p>"));
    let many = render(&["A", "B"]);
    assert!(
        many.contains("<p>A, ?</p>") && many.contains("<p>B, ?</p>"),
        "{many}"
    );
}

#[test]
fn a_template_of_a_locale_comes_before_the_one_for_all() {
    let design = design(&[
        (WORK, "<p>all</p>"),
        ("email/artwork_published.de.html", "<p>deutsch</p>"),
        ("email/layout.pt-BR.txt", "Oi {{ mail.count }}"),
    ])
    .unwrap();
    let event_type = id("artwork_published");
    let shown = |locale: &str| {
        let batch = sample(&event_type, &Rules::default(), locale, 1);
        tidings_mail::content(&batch, &design).unwrap().1
    };
    assert!(shown("de-AT").html.contains("<p>deutsch</p>"));
    assert!(shown("fr").html.contains("<p>all</p>"));
    assert_eq!(shown("pt-br").text, "Oi 1");
    assert!(shown("pt").text.contains("first example"));
}

#[test]
fn what_is_unknown_or_may_be_absent_is_a_fault_of_the_configuration() {
    for (source, part) in [
        ("{{ itm.title }}", "there is no `itm.title`"),
        (
            "{% if false %}{{ item.titel }}{% endif %}",
            "there is no `item.titel`",
        ),
        ("{{ item.image.src }}", "undefined"),
        (
            "{% for x in item.sentence %}{{ x.txt }}{% endfor %}{{ mail.titel }}",
            "`mail.titel`",
        ),
        ("{% include 'email/_none.html' %}", "_none"),
        ("{% include '/etc/passwd' %}", "/etc/passwd"),
        ("{% if %}", "syntax error"),
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
            "fuel",
        ),
    ] {
        let fault = fault_of(WORK, source);
        assert!(fault.contains(part), "{source}: {fault}");
    }
    for source in [
        "{% if item.image %}{{ item.image.src }}{% endif %}",
        "{{ item.data.a.b }}{{ brand.color }}{{ mail.direction }}",
        "{% set x = item.count %}{{ x }}",
    ] {
        assert_eq!(fault_of(WORK, source), "", "{source}");
    }
    for (name, source) in DEFAULT_TEMPLATES {
        assert_eq!(fault_of(name, source), "", "{name}");
    }
}

#[test]
fn t14_a_template_that_fails_fails_one_message() {
    let design = design(&[(WORK, "{{ item.data.medium }}")]).unwrap();
    let fault = tidings_mail::render(&of_titles(&["A".to_owned()]), &design).unwrap_err();
    let RenderError::Template(reason) = fault else {
        panic!("{fault}")
    };
    assert!(reason.contains("artwork_published.html"), "{reason}");
    let mut other = of_titles(&["A".to_owned()]);
    other.groups[0].lines[0].types = vec![id("comment")];
    assert!(tidings_mail::render(&other, &design).is_ok());
}
