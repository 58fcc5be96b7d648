// A browser, a host's site and a server. The server is the mock, or with TIDINGS_URL a real one:
//   TIDINGS_URL          where it is
//   TIDINGS_KEY          an API key that may publish
//   TIDINGS_SIGNING_KEY  a signing key's secret (tsk_…); without it TIDINGS_TOKEN has to do
//   TIDINGS_TOKEN        a token of the recipient TIDINGS_RECIPIENT
//   TIDINGS_PORT         the port of the host's pages: `http://localhost:PORT` has to be one of `[users] origins`
//   TIDINGS_TYPE         a type with an inbox, `comment` by default
//   TIDINGS_MOCK         `alone`: without what a real server plays as well
import { createHmac, randomUUID } from "node:crypto";
import { after, before, test as nodeTest } from "node:test";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import type { MarkName, Preference, Target } from "../../core/index.js";
import { HostSite } from "../host.js";
import { Mock } from "../mock.js";

const { env } = process;
export const real = env.TIDINGS_URL;

type Play = () => Promise<void>;
type Only = { skip: string | boolean };

/**
 * A test of the mock and of a real server; with `only`, of one of them. Where TIDINGS_MOCK is `alone`, what is played
 * over the real server as well is left out.
 */
export function test(name: string, ...rest: [Play] | [Only, Play]): void {
  const [only, play] = rest.length === 2 ? rest : [undefined, rest[0]];
  const skip = only?.skip || (!real && !only && env.TIDINGS_MOCK === "alone" && "the real server plays it");
  void nodeTest(name, { skip }, play);
}

export interface Published {
  event?: string;
  object?: { id: string; title?: string; url?: string };
  actor?: { id: string; title?: string };
  body?: string;
  category?: string;
  type?: string;
  /** The tenant that it is of; only a real server knows any. */
  tenant?: string;
}

export class Stage {
  browser!: Browser;
  host = new HostSite();
  mock = new Mock();
  #contexts = new Set<BrowserContext>();

  get server(): string {
    return real ?? this.mock.url;
  }

  async start(): Promise<void> {
    await this.host.start(Number(env.TIDINGS_PORT ?? 0));
    await this.mock.start();
    this.mock.origins.add(this.host.url);
    if (real) this.host.give = (sub, tenant) => this.token(sub, tenant);
    this.browser = await chromium.launch({ executablePath: env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.mock.stop();
    await this.host.stop();
  }

  /** A recipient whom nobody has notified yet. */
  person(): string {
    return real ? (env.TIDINGS_RECIPIENT ?? `ui-${randomUUID()}`) : randomUUID();
  }

  token(sub: string, tenant?: string): string {
    const secret = env.TIDINGS_SIGNING_KEY;
    if (!secret) return env.TIDINGS_TOKEN!;
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const iat = Math.floor(Date.now() / 1000);
    const signed = `${part({ alg: "HS256", kid: secret.split("_")[1] })}.${part({ sub, iat, exp: iat + this.host.lifeMs / 1000, ...(tenant && { tenant }) })}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${real}${path}`, {
      method, body: body ? JSON.stringify(body) : null,
      headers: { "content-type": "application/json", ...(env.TIDINGS_KEY && { authorization: `Bearer ${env.TIDINGS_KEY}` }) },
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  }

  async publish(sub: string, event: Published = {}): Promise<void> {
    if (!real) return void this.mock.world(sub).publish(event);
    const { event: id, category: _, ...rest } = event;
    await this.#call("PUT", `/v1/recipients/${sub}`, {});
    await this.#call("POST", "/v1/events", {
      id: id ?? randomUUID(), type: env.TIDINGS_TYPE ?? "comment", object: { id: "works/1", title: "Water Lilies" }, ...rest,
      to: { recipients: [sub] },
    });
  }

  /** Makes a tenant, where there is none of that id, and a member. */
  async member(tenant: string, sub: string): Promise<void> {
    await this.#call("PUT", `/v1/tenants/${tenant}`, {});
    await this.#call("PUT", `/v1/recipients/${sub}`, {});
    await this.#call("PUT", `/v1/tenants/${tenant}/members/${sub}`, {});
  }

  /** Gives a recipient an address of mail; the mock's have one. */
  async address(sub: string): Promise<void> {
    if (real) await this.#call("PUT", `/v1/recipients/${sub}`, { email: `${sub}@example.org` });
  }

  /** What a recipient chose. */
  async preferences(sub: string): Promise<Preference[]> {
    return real ? ((await this.#call("GET", `/v1/recipients/${sub}/preferences`)) as Preference[]) : this.mock.settingsOf(sub).preferences;
  }

  async withdraw(sub: string, event: string): Promise<void> {
    if (real) await this.#call("POST", `/v1/events/${event}/withdraw`, {});
    else this.mock.world(sub).withdraw(event);
  }

  async mark(sub: string, name: MarkName, target: Target): Promise<void> {
    if (real) await this.#call("POST", `/v1/recipients/${sub}/inbox/${name}`, target);
    else this.mock.world(sub).mark(name, target);
  }

  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    this.#contexts.add(context);
    return context;
  }

  /** Closes what a test opened, and undoes what it told the mock. */
  async clean(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    this.#contexts.clear();
    const { host, mock } = this;
    Object.assign(mock, { refuse: () => undefined, fail: () => undefined, latency: 0, silent: false });
    mock.origins.add(host.url);
    host.lifeMs = 3_600_000;
    host.reports.length = 0;
  }

  /** A page of the host with any element; ELEMENT is replaced by where it is and its source of tokens. */
  async show(sub: string, script: string, html: string, more: { context?: BrowserContext; lang?: string } = {}): Promise<Page> {
    const page = await (more.context ?? (await this.context())).newPage();
    const path = `/${randomUUID()}`;
    const lang = more.lang ?? "en";
    this.host.pages.set(path, {
      html: `<!doctype html><html lang="${lang}" dir="${["ar", "fa", "he"].includes(lang) ? "rtl" : "ltr"}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
<script type="module" src="${this.server}/ui/${script}.js"></script><body><h1>Host</h1>${html.replaceAll("TOKEN", `token-url="/token?sub=${sub}"`)}`,
    });
    await page.goto(this.host.url + path);
    return page;
  }

  /** A page of the host with an inbox of `sub`. */
  async open(sub: string, more: { attributes?: string; context?: BrowserContext; html?: string; headers?: Record<string, string>; lang?: string; tenant?: string } = {}): Promise<Page> {
    const context = more.context ?? (await this.context());
    const page = await context.newPage();
    const path = `/${randomUUID()}`;
    const inbox = `<tidings-inbox token-url="/token?sub=${sub}${more.tenant ? `&tenant=${more.tenant}` : ""}" ${more.attributes ?? ""}></tidings-inbox>`;
    const lang = more.lang ?? "en";
    this.host.pages.set(path, {
      html: more.html?.replace("INBOX", inbox) ??
        `<!doctype html><html lang="${lang}" dir="${["ar", "fa", "he"].includes(lang) ? "rtl" : "ltr"}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
<script type="module" src="${this.server}/ui/inbox.js"></script><body><h1>Host</h1>${inbox}<p>Text of the host.</p>`,
      ...(more.headers && { headers: more.headers }),
    });
    await page.goto(this.host.url + path);
    return page;
  }
}

/** The stage of a file of tests. */
export function stage(): Stage {
  const made = new Stage();
  before(() => made.start());
  after(() => made.stop());
  return made;
}

export const bell = (page: Page) => page.locator("tidings-inbox [part=bell]");
export const badge = (page: Page) => page.locator("tidings-inbox [part=badge]");
export const rows = (page: Page) => page.locator("tidings-inbox [part=item]");

/** Waits until it is so; a busy machine takes long. */
export async function until(what: () => unknown | Promise<unknown>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    if (await what()) return;
    if (Date.now() > end) throw new Error(`not so after ${ms} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** The badge's number; 0 if there is none. */
export async function count(page: Page): Promise<number> {
  return (await badge(page).isVisible()) ? Number((await badge(page).textContent())!.replace("+", "")) : 0;
}
