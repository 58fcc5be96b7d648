/** The push manager of a page itself, where the browser shows declarative messages without a worker. */
interface DeclarativeWindow {
  pushManager?: PushManager;
}

const own = (): PushManager | undefined => (globalThis as DeclarativeWindow).pushManager;

/** True if this browser can subscribe: by itself, or with the host's worker. */
export function canPush(worker: string | null): boolean {
  return own() !== undefined || (worker !== null && "PushManager" in globalThis && !!globalThis.navigator?.serviceWorker);
}

async function manager(worker: string | null): Promise<PushManager | undefined> {
  if (own()) return own();
  const { serviceWorker } = navigator;
  if (!worker) return (await serviceWorker?.getRegistration())?.pushManager;
  await serviceWorker.register(worker);
  return (await serviceWorker.ready).pushManager;
}

/** The subscription that this browser has. */
export async function current(): Promise<PushSubscription | null> {
  try {
    return (await (await manager(null))?.getSubscription()) ?? null;
  } catch {
    return null;
  }
}

/** Subscribes after asking the person, or finds the subscription to end. */
export async function subscribe(key: string, worker: string | null, on: boolean): Promise<PushSubscription | null> {
  if (!on) return current();
  const push = await manager(worker);
  return (await push?.subscribe({ userVisibleOnly: true, applicationServerKey: key })) ?? null;
}
