//! Templates of a host's own.

use tidings_core::Rules;
use tidings_core::rules::TypeRules;
use tidings_mail::{DEFAULT_TEMPLATES, Design, DesignError, RenderError, sample};

use crate::fixture::{assert_proper, bodies, id, of_titles, sender};

fn rules(templates: &[(&str, &str)]) -> Rules {
    let mut rules = Rules::default();
    let kind = TypeRules { category: "works".to_owned(), ..TypeRules::default() };
    rules.types.insert("artwork_published".to_owned(), kind);
    rules.presentation.templates =
        templates.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect();
    rules
}

fn design(templates: &[(&str, &str)]) -> Result<Design, DesignError> {
    Design::new(sender(), &rules(templates))
}

/// The faults that the trial of one template finds.
fn fault_of(name: &str, source: &str) -> String {
    let faults: Vec<String> =
        Design::faults(&rules(&[(name, source)])).iter().map(ToString::to_string).collect();
    faults.join("\n")
}

const WORK: &str = "email/artwork_published.html";

#[test]
fn a_types_template_shows_its_items_in_the_digest_and_alone() {
    let block = "<p>{% if alone %}only {% endif %}{{ item.title }}, {{ item.data.medium|default('?') }}</p>";
    let design = design(&[(WORK, block)]).unwrap();
    assert_eq!(Design::faults(&rules(&[(WORK, block)])), []);
    let render = |titles: &[&str]| {
        let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
        let mail = tidings_mail::render(&of_titles(&titles), &design).unwrap();
        assert_proper(&mail);
        bodies(&mail).1
    };
    assert!(render(&["A <b>"]).contains("<p>only A &lt;b&gt;, ?</p>"));
    let many = render(&["A", "B"]);
    assert!(many.contains("<p>A, ?</p>") && many.contains("<p>B, ?</p>"), "{many}");
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
        ("{% if false %}{{ item.titel }}{% endif %}", "there is no `item.titel`"),
        ("{{ item.image.src }}", "undefined"),
        ("{% for x in item.sentence %}{{ x.txt }}{% endfor %}{{ mail.titel }}", "`mail.titel`"),
        ("{% include 'email/_none.html' %}", "_none"),
        ("{% include '/etc/passwd' %}", "/etc/passwd"),
        ("{% if %}", "syntax error"),
        (
            "{% for a in item.title %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
            "no function `range`",
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
fn f2_what_an_event_lacks_prints_as_nothing() {
    let source = "<p>[{{ item.data.medium }}{{ item.data.a.b|upper }}{{ item.data.gone }}]\
                  {% for line in item.data.lines %}{{ line }}{% endfor %}[{{ item.url }}{{ item.actor|upper }}{{ item.target }}]</p>";
    assert_eq!(fault_of(WORK, source), "");
    let design = design(&[(WORK, source)]).unwrap();
    let mut batch = of_titles(&["A".to_owned()]);
    let line = &mut batch.groups[0].lines[0];
    line.data =
        Some(std::sync::Arc::new(serde_json::json!({"gone": null}).as_object().unwrap().clone()));
    line.actors.clear();
    line.target = None;
    std::sync::Arc::make_mut(&mut line.object).url = None;
    let html = tidings_mail::content(&batch, &design).unwrap().1.html;
    assert!(html.contains("<p>[][]</p>"), "{html}");
}

#[test]
fn f2_the_trial_leaves_out_each_field_and_each_name_of_data() {
    for (source, part) in [
        ("{{ item.image.src }}", "where `item.image` is absent"),
        ("{{ item.data.at - 1 }}", "where `item.data.at` is absent"),
        ("{{ item.data.a.b - 1 }}", "where `item.data.a.b` is absent"),
        ("{% if item.data.a %}{{ item.data.b - 1 }}{% endif %}", "where `item.data.b` is absent"),
        ("{% if not item.data.a %}{{ item.data.b - 1 }}{% endif %}", "where `item.data` is empty"),
    ] {
        let fault = fault_of(WORK, source);
        assert!(fault.contains(part), "{source}: {fault}");
    }
    for source in [
        "{{ item.data.price|default(0)|round(2) }}",
        "{% for line in item.data.lines %}{{ line }}{% endfor %}",
    ] {
        assert_eq!(fault_of(WORK, source), "", "{source}");
    }
}

#[test]
fn f2_all_faults_of_a_run_are_found_with_their_places() {
    let templates = [
        (WORK, "{{ item.titel }}\n{{ itm.x }}"),
        ("email/artwork_published.txt", "{% if %}"),
        ("email/_a.html", "\n{{ item.title|safe }}\n{{ item.title ~ item.title }}"),
    ];
    let faults: Vec<String> =
        Design::faults(&rules(&templates)).iter().map(ToString::to_string).collect();
    for part in [
        "artwork_published.html: line 1: there is no `item.titel`",
        "artwork_published.html: line 2: there is no `itm.x`",
        "artwork_published.txt: syntax error",
        "_a.html: line 2: templates have no filter `safe`",
        "_a.html: line 3: templates have no `~`",
    ] {
        assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:#?}");
    }
    assert_eq!(faults.len(), 5, "{faults:#?}");
}

#[test]
fn a10_templates_have_nothing_that_grows_or_is_not_escaped() {
    for source in [
        "{% set a = item.title ~ item.title %}",
        "{% set a = item.title * 9 %}",
        "{% set a = item.title + item.title %}",
        "{{ 9 ** item.count }}",
        "{{ '%2000000000d'|format(1) }}",
        "{{ item.title|indent(item.data.depth) }}",
        "{{ item.title|safe }}",
        "{{ item.title|e|e }}",
        "{% autoescape false %}{{ item.title }}{% endautoescape %}",
        "{% set a %}{{ item.title }}{% endset %}",
        "{% filter upper %}{{ item.title }}{% endfilter %}",
        "{% set a = [item, item] %}",
        "{% set a = {'a': item} %}",
        "{% set ns = namespace(a=1) %}",
        "{% macro m() %}{{ item.title }}{% endmacro %}",
        "{% macro m(a) %}{{ m(a ~ a) }}{% endmacro %}{{ m('a') }}",
        "{% import 'email/items.html' as a %}",
        "{% call item.title() %}a{% endcall %}",
        "{% if false %}{{ item.title|batch(3) }}{% endif %}",
        "{% block a %}{{ item.title|list }}{% endblock %}",
    ] {
        let fault = fault_of(WORK, source);
        assert!(
            fault.contains("templates have no") || fault.contains("syntax error"),
            "{source}: {fault}"
        );
        assert!(design(&[(WORK, source)]).is_err(), "{source}");
    }
}

#[test]
fn b7_what_is_constant_is_refused_before_it_is_computed() {
    let nested = "[[1, 2, 3] * 90000000, [4] * 90000000] * 90000000";
    for source in [
        "{{ 'a' * 9000000000000000000 }}",
        "{{ 9000000000000000000 * 'a' }}",
        "\n{%- if ('a' * 9000000000000000000)|length > item.count -%}x{% endif %}",
        "{% set a = ('a' * 900000000000)|length %}",
        &format!("{{{{ {nested} }}}}"),
        "{{ item.title|replace('a', 'a' * 90000000000) }}",
        "{{ item.title|default('a' ~ 'b') }}",
        "{{ item[1 + 1] }}",
        "{{ 2 ** 3 }}",
        "{{ item.title|join(*'a') }}",
    ] {
        let fault = fault_of(WORK, source);
        assert!(fault.contains("templates have no `"), "{source}: {fault}");
        assert!(design(&[(WORK, source)]).is_err(), "{source}");
    }
    // No operators: texts, comments, what is raw, and signs that keep white space.
    for source in [
        "a + b * c ~ d ** e",
        "{# {{ 'a' * 9 }} #}",
        "{% raw %}{{ 'a' * 9 }}{% endraw %}",
        "{%+ if item.title == 'a + b' +%}{{- item.title +}}{% endif %}",
        "{{ 1e+2 }}{{ item.data.price|default('*') }}",
    ] {
        assert_eq!(fault_of(WORK, source), "", "{source}");
    }
}

#[test]
fn a10_a_template_that_nests_is_refused_before_it_is_parsed() {
    let many = |text: &str, times: usize| text.repeat(times);
    for source in [
        format!("{{{{ {}1 }}}}", many("-", 60_000)),
        format!("{{{{ item{} }}}}", many(".a", 30_000)),
        format!("{{{{ a{} }}}}", many("()", 30_000)),
        format!("{{{{ a{} }}}}", many("[0]", 30_000)),
        format!("{{{{ 1{} }}}}", many("+1", 30_000)),
        format!("{{{{ {}1{} }}}}", many("(", 30_000), many(")", 30_000)),
        // The end of the tag within a text is none.
        format!("{{{{ '}}}}' or {}1 }}}}", many("-", 60_000)),
        format!("{{{{ \"\\\"}}}}\" or {}1 }}}}", many("-", 60_000)),
        format!("\n{{{{ {}1", many("not ", 30_000)),
        format!("{{{{ {{'a': {{'b': 1}}}}.a.b - {}1 }}}}", many("-", 60_000)),
        format!("{{% if a %}}{}{{% endif %}}", many("{% elif a %}", 9_000)),
        many("{% if a %}", 13_000),
    ] {
        let tried = std::thread::Builder::new().stack_size(2 << 20);
        let tried = tried.spawn(move || fault_of(WORK, &source)).unwrap();
        let fault = tried.join().unwrap();
        assert!(fault.contains("templates have no"), "{fault}");
    }
    // What is just within the bounds is parsed on the same stack.
    for source in [
        format!("{{{{ {}1 }}}}", many("-", 990)),
        format!("{{{{ {}1{} }}}}", many("(", 490), many(")", 490)),
        format!("{{{{ item{} }}}}", many(".a", 490)),
        format!("{{% if item %}}{}{{% endif %}}", many("{% elif item %}", 990)),
    ] {
        let tried = std::thread::Builder::new().stack_size(2 << 20);
        let tried = tried.spawn(move || design(&[(WORK, &source)]).map(drop)).unwrap();
        let _ = tried.join().unwrap();
    }
}

#[test]
fn a10_what_a_template_makes_is_bounded_while_it_is_made() {
    let long = "x".repeat(60_000);
    let all = "{% for a in item.data.l %}{% for b in item.data.l %}{{ item.data.x }}{% endfor %}{% endfor %}";
    for (source, part) in [
        (all, "more than 1048576 bytes"),
        ("{{ item.data.x|replace('x', item.data.x) }}", "`replace` makes"),
        ("{{ item.data.l|join(item.data.x) }}", "`join` makes"),
    ] {
        let design = design(&[(WORK, source)]).unwrap();
        let mut batch = of_titles(&["A".to_owned()]);
        let data = serde_json::json!({"x": long, "l": vec![1; 1000]});
        batch.groups[0].lines[0].data =
            Some(std::sync::Arc::new(data.as_object().unwrap().clone()));
        let fault = tidings_mail::render(&batch, &design).unwrap_err().to_string();
        assert!(fault.contains(part), "{source}: {fault}");
    }
}

#[test]
fn t14_a_template_that_fails_fails_one_message() {
    let design = design(&[(WORK, "{{ item.data.medium - 1 }}")]).unwrap();
    let fault = tidings_mail::render(&of_titles(&["A".to_owned()]), &design).unwrap_err();
    let RenderError::Template(reason) = fault else { panic!("{fault}") };
    assert!(reason.contains("artwork_published.html"), "{reason}");
    let mut other = of_titles(&["A".to_owned()]);
    other.groups[0].lines[0].types = vec![id("comment")];
    assert!(tidings_mail::render(&other, &design).is_ok());
}

#[test]
fn a_sample_has_what_the_sentences_of_its_type_take_from_data() {
    let mut rules = rules(&[]);
    let wording = tidings_core::rules::Wording {
        sentence: tidings_core::rules::Texts(
            [(String::new(), "Changed on {data.device.name}".to_owned())].into(),
        ),
        ..Default::default()
    };
    rules.presentation.types.insert("artwork_published".to_owned(), wording);
    let design = Design::new(sender(), &rules).unwrap();
    let batch = sample(&id("artwork_published"), &rules, "en", 1);
    let text = tidings_mail::content(&batch, &design).unwrap().1.text;
    assert!(text.contains("Changed on name"), "{text}");
}
