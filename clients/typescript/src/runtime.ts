interface Global {
  navigator?: { userAgent?: string };
  process?: { versions?: { node?: string }; env?: Record<string, string | undefined> };
}
const { navigator, process } = globalThis as Global;

/** True in a page, or in a worker of one. */
export const browser = navigator?.userAgent?.startsWith("Mozilla/") ?? false;

/** The name of this library, and of what runs it. */
export function userAgent(version: string): string {
  const node = process?.versions?.node;
  return [`tidings-typescript/${version}`, navigator?.userAgent ?? (node && `Node.js/${node}`)].filter(Boolean).join(" ");
}

/** A variable of the environment; undefined where there is none, or where it may not be read. */
export function environment(name: string): string | undefined {
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/** A random id of 32 letters and digits. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
