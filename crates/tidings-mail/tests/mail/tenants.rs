//! Messages of tenants: each in the look of its own, and with no word of another's.

use std::sync::Arc;

use mail_parser::MessageParser;
use tidings_core::content::Batch;
use tidings_core::model::{KnownTenant, Pivot, Tenant};
use tidings_core::rules::{Brand, Category, FormOfAddress, Texts, TypeRules, Wording};
use tidings_core::{Instant, Object, Rules};
use tidings_mail::{Choices, Design, SECRET_BYTES, TokenKey, Unsubscribe, short};

use crate::fixture::{bodies, id, object, of_titles, sender};

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(all: &[(&str, &str)]) -> Texts {
    Texts(all.iter().map(|(locale, text)| ((*locale).to_owned(), (*text).to_owned())).collect())
}

fn rules() -> Rules {
    let mut rules = Rules::default();
    rules.presentation.brand = Brand {
        name: some("Host"),
        color: some("#111111"),
        footer: some("From the host"),
        url: some("https://host.example"),
        ..Brand::default()
    };
    rules.presentation.reply_to = some("channel@host.example");
    let wording = Wording {
        subject: texts(&[("", "{tenant} has {count} new")]),
        sentence: texts(&[("", "{object} at {tenant}")]),
        ..Wording::default()
    };
    rules.presentation.types.insert("artwork_published".to_owned(), wording);
    rules.types.insert("artwork_published".to_owned(), TypeRules::default());
    rules
}

fn key() -> TokenKey {
    TokenKey::new(&[1; SECRET_BYTES])
}

fn design(rules: &Rules) -> Design {
    Design::new(sender(), rules).unwrap().linked(key())
}

fn acme() -> Tenant {
    Tenant {
        name: some("Acme Works"),
        brand: Brand {
            name: some("Acme Brand"),
            color: some("#cc0044"),
            url: some("https://acme.example/n/"),
            ..Brand::default()
        },
        from_name: some("Acme Team"),
        reply_to: some("hello@acme.example"),
        ..Tenant::default()
    }
}

fn globex() -> Tenant {
    Tenant {
        name: some("Globex Hall"),
        brand: Brand {
            name: some("Globex Brand"),
            footer: some("From Globex"),
            ..Brand::default()
        },
        ..Tenant::default()
    }
}

fn of(name: &str, tenant: Tenant, batch: &Batch) -> Batch {
    let known = KnownTenant::new(id(name), tenant, Instant(5));
    Batch { tenant: Some(Arc::new(known)), ..batch.clone() }
}

fn two() -> Batch {
    let mut batch = of_titles(&["Marilyn".to_owned(), "Flowers".to_owned()]);
    let group = &mut batch.groups[0];
    for line in &mut group.lines {
        Arc::make_mut(&mut line.object).url = some("w");
    }
    // The button under what is about one thing has the brand's colour.
    group.pivot = Pivot::Target;
    group.key = Some(Arc::new(Object { url: some("s"), ..object("s", "Show") }));
    batch
}

/// A mail: `From`, `Reply-To`, the base of its way out, the subject, and all of its text.
fn read(batch: &Batch, design: &Design) -> [String; 5] {
    let mail = tidings_mail::render(batch, design).unwrap();
    let message = MessageParser::default().parse(&mail.bytes).unwrap();
    let mailbox = |address: Option<&mail_parser::Address<'_>>| {
        let first = address.and_then(|all| all.first());
        first.map_or_else(String::new, |one| {
            let (name, address) = (one.name().unwrap_or_default(), one.address().unwrap());
            format!("{name} <{address}>")
        })
    };
    let raw = message.header_raw("List-Unsubscribe").unwrap_or_default().trim().to_owned();
    let base = raw.split("/u/").next().unwrap().trim_start_matches('<').to_owned();
    let (text, html) = bodies(&mail);
    let (from, to) = (mailbox(message.from()), mailbox(message.reply_to()));
    [from, to, base, mail.subject.clone(), text + &html]
}

#[test]
fn t42_mails_wear_the_brand_of_their_tenant() {
    let rules = rules();
    let design = design(&rules);
    let batch = two();
    let plain = read(&batch, &design);
    let of_acme = of("acme", acme(), &batch);
    // In turn, so that what is kept of one would show in another.
    for _ in 0..2 {
        let [from, to, base, subject, body] = read(&of_acme, &design);
        assert_eq!(from, "Acme Team <art@example.org>");
        assert_eq!(to, " <hello@acme.example>");
        assert_eq!(base, "https://acme.example/n");
        assert_eq!(subject, "Acme Works has 2 new");
        for own in ["Acme Brand", "From the host", "#cc0044", "Acme Works"] {
            assert!(body.contains(own), "{own} in {body}");
        }
        for foreign in ["Globex", "#111111", "host.example", ">Host<"] {
            assert!(!body.contains(foreign), "{foreign} in {body}");
        }
        let [from, to, base, subject, body] = read(&of("globex", globex(), &batch), &design);
        assert_eq!(from, "Art <art@example.org>");
        assert_eq!(to, " <channel@host.example>");
        assert_eq!(base, "https://host.example");
        assert_eq!(subject, "Globex Hall has 2 new");
        assert!(body.contains("Globex Brand") && body.contains("From Globex"), "{body}");
        for foreign in ["Acme", "#cc0044", "From the host", "acme.example"] {
            assert!(!body.contains(foreign), "{foreign} in {body}");
        }
        assert_eq!(read(&batch, &design), plain);
    }
    // Without a tenant its place has nothing to hold, so the subject is another.
    let [from, to, base, subject, body] = plain;
    assert_eq!(from, "Art <art@example.org>");
    assert_eq!(to, " <channel@host.example>");
    assert_eq!(base, "https://host.example");
    assert!(!subject.contains("has 2 new"), "{subject}");
    assert!(!body.contains("Acme") && !body.contains("Globex"), "{body}");
    let mail = tidings_mail::render(&of_acme, &design).unwrap();
    let text = String::from_utf8(mail.bytes).unwrap().replace("\r\n ", "");
    let token = text.split("<https://acme.example/n/u/").nth(1).unwrap().split('>').next();
    let opened = Unsubscribe::open(&key(), token.unwrap()).unwrap().tenant.unwrap();
    assert_eq!((opened.id.as_str(), opened.made), ("acme", Instant(5)));
    // A tenant without a name has nothing for the place; its id is never shown.
    let nameless = of("acme-id", Tenant { name: None, ..acme() }, &batch);
    let [.., subject, body] = read(&nameless, &design);
    assert!(!subject.contains("acme-id") && !body.contains("acme-id"), "{subject}");
}

#[test]
fn t42_answers_go_to_the_nearest_mailbox() {
    let mut rules = rules();
    let batch = two();
    let category = batch.groups[0].category.clone();
    let to = |rules: &Rules, tenant: Option<Tenant>| {
        let batch = tenant.map_or_else(|| batch.clone(), |tenant| of("acme", tenant, &batch));
        read(&batch, &design(rules))[1].clone()
    };
    assert_eq!(to(&rules, Some(acme())), " <hello@acme.example>");
    let without = Tenant { reply_to: None, ..acme() };
    assert_eq!(to(&rules, Some(without)), " <channel@host.example>");
    rules.categories.insert(category.clone(), Category::default());
    rules.presentation.category_reply_to.insert(category, "category@host.example".to_owned());
    assert_eq!(to(&rules, Some(acme())), " <category@host.example>");
    let wording = rules.presentation.types.get_mut("artwork_published").unwrap();
    wording.reply_to = some("type@host.example");
    assert_eq!(to(&rules, Some(acme())), " <type@host.example>");
    assert_eq!(to(&rules, None), " <type@host.example>");
}

#[test]
fn t42_a_change_of_a_tenant_shows_at_once_however_many_there_are() {
    let design = design(&rules());
    let batch = two();
    for n in 0..600 {
        let tenant = Tenant { name: Some(format!("Tenant {n}")), ..Tenant::default() };
        let (subject, _) =
            tidings_mail::content(&of(&format!("t{n}"), tenant, &batch), &design).unwrap();
        assert_eq!(subject, format!("Tenant {n} has 2 new"));
    }
    let kept = design.of_tenant(&id("acme"), &acme());
    assert!(Arc::ptr_eq(&kept, &design.of_tenant(&id("acme"), &acme())));
    for color in ["#7a0000", "#0000aa"] {
        let mut changed = acme();
        changed.brand.color = some(color);
        let [.., body] = read(&of("acme", changed, &batch), &design);
        assert!(body.contains(color) && !body.contains("#cc0044"), "{body}");
    }
}

#[test]
fn t42_a_tenants_locale_stands_between_the_recipients_and_the_default_one() {
    let mut rules = rules();
    let sentence = texts(&[("en", "{object} here"), ("de", "{object} hier")]);
    let wording = Wording { sentence, ..Wording::default() };
    rules.presentation.types.insert("artwork_published".to_owned(), wording);
    let design = design(&rules);
    let lang = |locale: &str, of_tenant: Option<&str>| {
        let tenant = Tenant { locale: of_tenant.map(str::to_owned), ..acme() };
        let mut batch = of("acme", tenant, &two());
        locale.clone_into(&mut batch.locale);
        let [.., body] = read(&batch, &design);
        let lang = body.split("<html lang=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(lang, design.lang(&batch));
        lang.to_owned()
    };
    assert_eq!(lang("ja", Some("de-AT")), "de");
    assert_eq!(lang("ja", None), "en");
    assert_eq!(lang("en", Some("de")), "en");
    // The recipient has none: theirs is the tenant's.
    assert_eq!(lang("de", Some("de")), "de");
}

#[test]
fn t42_a_tenant_speaks_to_people_in_its_own_way() {
    let mut rules = rules();
    rules.presentation.types.clear();
    let design = design(&rules);
    let mut batch = two();
    "de".clone_into(&mut batch.locale);
    let mut familiar = acme();
    familiar.brand.address = Some(FormOfAddress::Familiar);
    let [.., formal_body] = read(&of("globex", globex(), &batch), &design);
    let [.., body] = read(&of("acme", familiar.clone(), &batch), &design);
    assert!(formal_body.contains("Sie") && !formal_body.contains("Du erhältst"), "{formal_body}");
    assert!(body.contains("Du erhältst"), "{body}");
    let page = design.of_tenant(&id("acme"), &familiar);
    let page = page.choices(&["de"], &Choices::default()).unwrap();
    assert!(page.contains("Was Acme Brand dir schickt"), "{page}");
}

#[test]
fn t42_rows_and_short_messages_name_the_tenant() {
    let rules = rules();
    let batch = of_titles(&["Marilyn".to_owned()]);
    let of_acme = of("acme", acme(), &batch);
    let design = design(&rules);
    let worn = design.of_tenant(&id("acme"), &acme());
    assert_eq!(worn.row_text(&batch.groups, &["en"], "UTC").text, "Marilyn at Acme Works");
    let row = design.row_text(&batch.groups, &["en"], "UTC").text;
    assert!(row.contains("Marilyn") && !row.contains(" at "), "{row}");
    let push = Design::short("fcm", &rules).unwrap();
    let told = short(&Batch { channel: "fcm".to_owned(), ..of_acme }, &push).unwrap();
    assert_eq!(told.title, "Marilyn at Acme Works");
    let told = short(&Batch { channel: "fcm".to_owned(), ..batch }, &push).unwrap();
    assert!(!told.title.contains(" at "), "{}", told.title);
}
