// The service worker of Web Push. A host's own worker is one line: importScripts("https://tidings.example.org/ui/worker.js")
// Messages are declarative ones, which newer browsers show by themselves; older servers sent `title`, `body`, `url`.

interface Shown {
  title?: string;
  body?: string;
  url?: string;
  /** Declarative Web Push. */
  navigate?: string;
  app_badge?: number | string;
  tag?: string;
  renotify?: boolean;
}

interface PushMessage extends Event {
  data: { json(): unknown } | null;
  waitUntil(promise: Promise<unknown>): void;
}

interface Click extends Event {
  notification: Notification;
  waitUntil(promise: Promise<unknown>): void;
}

interface Page {
  url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}

const worker = globalThis as unknown as {
  addEventListener(event: string, run: (event: never) => void): void;
  registration: { showNotification(title: string, options: object): Promise<void>; scope: string };
  clients: { matchAll(options: object): Promise<Page[]>; openWindow(url: string): Promise<unknown> };
  navigator: { setAppBadge?(count?: number): Promise<void> };
};

worker.addEventListener("push", (event: PushMessage) => {
  let told: Shown & { web_push?: number; notification?: Shown } = {};
  try {
    told = (event.data?.json() ?? {}) as typeof told;
  } catch {
    // Not a message of ours: something has to be shown all the same, or the browser shows its own.
  }
  const { title, body, url, navigate, tag, renotify, app_badge } = told.notification ?? told;
  const badge = Number(told.app_badge ?? app_badge);
  event.waitUntil(Promise.all([
    worker.registration.showNotification(title || new URL(worker.registration.scope).host, {
      body, data: navigate ?? url, ...(tag && { tag, renotify: !!renotify }),
    }),
    Number.isFinite(badge) ? worker.navigator.setAppBadge?.(badge) : undefined,
  ]));
});

worker.addEventListener("notificationclick", (event: Click) => {
  event.notification.close();
  const { scope } = worker.registration;
  const url = new URL((event.notification.data as string | null) ?? scope, scope);
  if (!/^https?:$/.test(url.protocol)) return;
  event.waitUntil((async () => {
    const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    const there = pages.find((page) => page.url === url.href) ?? pages.find((page) => new URL(page.url).origin === url.origin);
    if (!there) return worker.clients.openWindow(url.href);
    await there.focus();
    if (there.url !== url.href) await there.navigate(url.href).catch(() => worker.clients.openWindow(url.href));
  })());
});

export {};
