/** The push manager of a page itself, where the browser shows declarative messages without a worker. */
interface DeclarativeWindow {
  pushManager?: PushManager;
}

const own = (): PushManager | undefined => (globalThis as DeclarativeWindow).pushManager;

/** True if this browser can subscribe: by itself, or with the host's worker. */
export function canPush(worker: string | null): boolean {
  return own() !== undefined || (worker !== null && "PushManager" in globalThis && !!globalThis.navigator?.serviceWorker);
}

const registered = async () => (await navigator.serviceWorker?.getRegistration())?.pushManager;

/** What subscribes: the worker that the host names, which then shows what comes, or the page itself. */
async function manager(worker: string | null): Promise<PushManager | undefined> {
  const { serviceWorker } = navigator;
  if (!worker || !serviceWorker) return own() ?? registered();
  await serviceWorker.register(worker);
  return (await serviceWorker.ready).pushManager;
}

/** The subscription that this browser has, of the page or of its worker. */
export async function current(): Promise<PushSubscription | null> {
  for (const find of [own, registered]) {
    try {
      const found = await (await find())?.getSubscription();
      if (found) return found;
    } catch {
      // This one has none.
    }
  }
  return null;
}

/** Subscribes after asking the person, or finds the subscription to end. */
export async function subscribe(key: string, worker: string | null, on: boolean): Promise<PushSubscription | null> {
  if (!on) return current();
  const push = await manager(worker);
  return (await push?.subscribe({ userVisibleOnly: true, applicationServerKey: key })) ?? null;
}
