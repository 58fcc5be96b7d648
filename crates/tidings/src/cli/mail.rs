//! `tidings preview` and `tidings template`: sample mails, and the default templates.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings_core::content::Batch;
use tidings_core::model::{KnownTenant, Tenant};
use tidings_core::{Id, Instant, Rules};
use tidings_mail::{DEFAULT_TEMPLATES, Design, check_locale};

use tidings_api::preview::{self, Sample, SampleContent, SampleMail};
use tidings_config::templates;
use tidings_config::wording::quoted;
use tidings_node::channel::sms;

use super::calls::{scheduled_text, write_content};
use super::reach::{self, TargetArguments};
use super::{Status, Streams, private_file, report};
use crate::client::{Request, parameters, segment};

/// Arguments of `preview`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(super) struct Preview {
    /// Type or digest to show, with sample items; for a digest, `--items` of each type
    #[arg(value_name = "TYPE", group = "what")]
    kind: Option<String>,
    /// Recipient whose next message is shown, as it would be sent
    #[arg(long, value_name = "ID", group = "what", conflicts_with_all = ["locale", "locales", "items"])]
    recipient: Option<String>,
    /// Channel whose message is shown; of others than `email` the text is printed [default: email]
    #[arg(long, value_name = "NAME", requires = "recipient")]
    channel: Option<String>,
    /// Lane whose message is shown, as `pending` lists it [default: the one that is due first]
    #[arg(long, value_name = "NAME", requires = "recipient")]
    lane: Option<String>,
    /// Locale of the recipient [default: that of `[defaults]`]
    #[arg(long)]
    locale: Option<String>,
    /// Comma-separated locales to show side by side: writes a directory for each, and a page with all
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "locale")]
    locales: Vec<String>,
    /// Tenant whose brand and locale are used, read from the server or the store
    #[arg(long, value_name = "ID", value_parser = Id::new, conflicts_with = "recipient")]
    tenant: Option<Id>,
    /// Number of items
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    items: u16,
    /// Draw a picture for each item, as for types whose objects have one
    #[arg(long, conflicts_with = "recipient")]
    pictures: bool,
    /// Directory to write message.html, message.txt and message.eml to
    #[arg(long, value_name = "DIR", default_value = "preview")]
    out: PathBuf,
    /// Open message.html in the browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    to: TargetArguments,
}

/// Arguments of `template`.
#[derive(clap::Args)]
pub(super) struct Template {
    /// Configuration beside which `templates` is written
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
}

/// Runs `preview`.
pub(super) fn preview(arguments: &Preview, streams: &mut Streams<'_>) -> io::Result<Status> {
    match (&arguments.recipient, &arguments.kind) {
        (Some(recipient), _) => next_of(arguments, recipient, streams),
        (None, Some(kind)) => sample_of(arguments, kind, streams),
        (None, None) => Ok(Status::Wrong),
    }
}

/// Writes the message that a recipient gets next.
fn next_of(arguments: &Preview, recipient: &str, streams: &mut Streams<'_>) -> io::Result<Status> {
    let chosen = [("channel", arguments.channel.as_deref()), ("lane", arguments.lane.as_deref())];
    let query = parameters(chosen).replacen('&', "?", 1);
    let request = Request::get(format!("/v1/recipients/{}/preview{query}", segment(recipient)));
    let mut reach = match reach::find(&arguments.to, request.purpose(), streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let answer = reach.ask(&request).and_then(|answer| answer.success()?.json());
    let closed = reach.close();
    let answer = match answer.and_then(|answer| closed.map(|()| answer)) {
        Ok(answer) => answer,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    if arguments.to.json {
        writeln!(streams.out, "{answer}")?;
        return Ok(Status::Done);
    }
    let what = if arguments.channel.is_some() { "message" } else { "mail" };
    let mail = &answer[what];
    let text = |field: &str| mail[field].as_str().unwrap_or_default();
    if mail.is_null() {
        match scheduled_text(&answer) {
            Some(scheduled) => writeln!(streams.out, "no {what} is due: {scheduled}")?,
            None => writeln!(streams.out, "nothing waits that will become a {what}")?,
        }
        return Ok(Status::Done);
    }
    writeln!(streams.out, "{} {}", text("at"), text("lane"))?;
    if mail["source"].is_null() {
        write_content(mail, streams.out)?;
        return Ok(Status::Done);
    }
    let files = [
        ("message.html", text("html").as_bytes()),
        ("message.txt", text("text").as_bytes()),
        ("message.eml", text("source").as_bytes()),
    ];
    show(arguments, text("subject"), &files, streams)
}

/// Writes a mail of made-up items.
fn sample_of(arguments: &Preview, kind: &str, streams: &mut Streams<'_>) -> io::Result<Status> {
    let rules = match tidings_config::read(&arguments.to.config) {
        Ok(rules) => rules,
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            return Ok(Status::Wrong);
        }
    };
    let sample = match Sample::of(kind, &rules) {
        Ok(sample) => sample,
        Err(message) => return Ok(report(streams, &message, Status::Wrong)),
    };
    let tenant = match &arguments.tenant {
        Some(id) => match tenant_of(arguments, id, streams) {
            Ok(known) => Some(Arc::new(known)),
            Err(status) => return Ok(status),
        },
        None => None,
    };
    let of_tenant = tenant.as_ref().and_then(|known| known.tenant.locale.clone());
    let usual = [of_tenant.unwrap_or_else(|| rules.defaults.locale.clone())];
    let locales: &[String] = match (&arguments.locales[..], &arguments.locale) {
        ([], None) => &usual,
        ([], Some(locale)) => std::slice::from_ref(locale),
        (locales, _) => locales,
    };
    for locale in locales {
        if let Err(fault) = check_locale(locale) {
            let message = format!("{} is not a locale; {fault}", quoted(locale));
            return Ok(report(streams, &message, Status::Wrong));
        }
    }
    let (items, pictures) = (usize::from(arguments.items), arguments.pictures);
    let shown = SampleContent { items, pictures };
    let batch =
        |locale: &String| Batch { tenant: tenant.clone(), ..sample.batch(&rules, locale, shown) };
    let all = preview::design(&rules).and_then(|design| {
        let each = locales.iter().map(|locale| preview::render(&batch(locale), &design));
        each.collect::<Result<Vec<SampleMail>, String>>()
    });
    let all = match all {
        Ok(all) => all,
        Err(fault) => return Ok(report(streams, &fault, Status::Failed)),
    };
    if !arguments.locales.is_empty() {
        return show_side_by_side(arguments, kind, &all, streams);
    }
    let Some(made) = all.first() else { return Ok(Status::Done) };
    let shown = show(arguments, &made.mail.subject, &files(made), streams)?;
    let routes = rules.types.get(kind).map(|kind| &kind.channels);
    if shown == Status::Done && routes.is_some_and(|routes| routes.contains_key("sms")) {
        return show_sms(batch(&made.locale), &rules, streams);
    }
    Ok(shown)
}

/// Reads the fields of a tenant that mails show.
fn tenant_of(
    arguments: &Preview,
    id: &Id,
    streams: &mut Streams<'_>,
) -> Result<KnownTenant, Status> {
    let request = Request::get(format!("/v1/tenants/{}", segment(id.as_str())));
    let mut reach = reach::find(&arguments.to, request.purpose(), streams)?;
    let answer = reach.ask(&request).and_then(|answer| answer.success()?.json());
    let closed = reach.close();
    let answer = answer.and_then(|answer| closed.map(|()| answer));
    let answer = answer.map_err(|fault| reach::report_fault(&fault, streams))?;
    let text = |field: &str| answer[field].as_str().map(str::to_owned);
    let tenant = Tenant {
        name: text("name"),
        brand: serde_json::from_value(answer["brand"].clone()).unwrap_or_default(),
        from_name: text("from_name"),
        reply_to: text("reply_to"),
        locale: text("locale"),
        tz: text("tz"),
        ..Tenant::default()
    };
    Ok(KnownTenant::new(id.clone(), tenant, Instant(0)))
}

/// The files of a mail.
fn files(made: &SampleMail) -> [(&'static str, &[u8]); 3] {
    [
        ("message.html", made.bodies.html.as_bytes()),
        ("message.txt", made.bodies.text.as_bytes()),
        ("message.eml", made.mail.bytes.as_slice()),
    ]
}

/// Writes a mail in several locales, each into a directory, and a page with all of them.
fn show_side_by_side(
    arguments: &Preview,
    title: &str,
    all: &[SampleMail],
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let link = |made: &SampleMail| format!("{}/message.html", made.locale);
    let page = preview::side_by_side(title, all, link, None).map_err(io::Error::other)?;
    let index = [("index.html", page.as_bytes())];
    let out = &arguments.out;
    let each = all.iter().map(|made| write_all(&out.join(&made.locale), &files(made)));
    let written = each.chain(std::iter::once(write_all(out, &index))).collect::<Result<(), _>>();
    if let Err((path, fault)) = written {
        let message = format!("cannot write {}: {fault}", path.display());
        return Ok(report(streams, &message, Status::Failed));
    }
    let width = all.iter().map(|made| made.locale.len()).max().unwrap_or_default();
    for made in all {
        let another = match made.lang.eq_ignore_ascii_case(&made.locale) {
            true => String::new(),
            false => format!(" (in {})", made.lang),
        };
        writeln!(streams.out, "{:width$}  {}{another}", made.locale, made.mail.subject)?;
    }
    let index = out.join("index.html");
    writeln!(streams.out, "{}", index.display())?;
    open_if_wanted(arguments, &index, streams)
}

/// Shows the text message of made-up items, with the number of parts that are paid for.
fn show_sms(mut batch: Batch, rules: &Rules, streams: &mut Streams<'_>) -> io::Result<Status> {
    "sms".clone_into(&mut batch.channel);
    let design = Design::short("sms", rules).map_err(|fault| fault.to_string());
    let made = design
        .and_then(|design| tidings_mail::short(&batch, &design).map_err(|fault| fault.to_string()));
    let (text, parts) = match made {
        Ok(short) => sms(short),
        Err(fault) => return Ok(report(streams, &fault, Status::Failed)),
    };
    let of = if parts == 1 { "part" } else { "parts" };
    writeln!(streams.out, "sms, {parts} {of}:")?;
    for line in text.lines() {
        writeln!(streams.out, "  {line}")?;
    }
    Ok(Status::Done)
}

/// Writes the files of a mail, and opens it.
fn show(
    arguments: &Preview,
    subject: &str,
    files: &[(&str, &[u8])],
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    if let Err((path, fault)) = write_all(&arguments.out, files) {
        let message = format!("cannot write {}: {fault}", path.display());
        return Ok(report(streams, &message, Status::Failed));
    }
    writeln!(streams.out, "{subject}")?;
    for (name, _) in files {
        writeln!(streams.out, "{}", arguments.out.join(name).display())?;
    }
    open_if_wanted(arguments, &arguments.out.join("message.html"), streams)
}

/// Opens a page if `--open` is given.
fn open_if_wanted(
    arguments: &Preview,
    page: &Path,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    if arguments.open
        && let Err(fault) = open(page)
    {
        let message = format!("cannot open a browser: {fault}");
        return Ok(report(streams, &message, Status::Failed));
    }
    Ok(Status::Done)
}

/// Runs `template`.
pub(super) fn template(arguments: &Template, streams: &mut Streams<'_>) -> io::Result<Status> {
    let directory = templates::directory(&arguments.config);
    let files: Vec<(&str, &[u8])> = DEFAULT_TEMPLATES
        .iter()
        .map(|(name, source)| (name.trim_start_matches("email/"), source.as_bytes()))
        .collect();
    // What somebody has changed is never lost.
    if let Some((name, _)) = files.iter().find(|(name, _)| directory.join(name).exists()) {
        let message = format!(
            "{} exists; move it away to get the default again",
            directory.join(name).display()
        );
        return Ok(report(streams, &message, Status::Wrong));
    }
    if let Err((path, fault)) = write_all(&directory, &files) {
        let message = format!("cannot write {}: {fault}", path.display());
        return Ok(report(streams, &message, Status::Failed));
    }
    for (name, _) in files {
        writeln!(streams.out, "{}", directory.join(name).display())?;
    }
    Ok(Status::Done)
}

fn write_all(directory: &Path, files: &[(&str, &[u8])]) -> Result<(), (PathBuf, io::Error)> {
    std::fs::create_dir_all(directory).map_err(|fault| (directory.to_owned(), fault))?;
    for (name, bytes) in files {
        let path = directory.join(name);
        let written = private_file(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(|fault| (path.clone(), fault))?;
    }
    Ok(())
}

/// Opens a file with the program that the system has for it.
fn open(path: &Path) -> io::Result<()> {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    std::process::Command::new(program).arg(path).spawn().map(drop)
}
