import type { AccountClient, ResumedProof } from '@postern/client';

/** A change that the user had begun when the page left for a proof. */
export interface BegunChange {
  /** The key of the button that begins the change. */
  readonly key: string;
  /** What the user had typed, without secrets. */
  readonly values: Readonly<Record<string, string>>;
}

const storageKey = 'postern.account.change';

/** Keeps a change for this tab until the page loads again. If the browser refuses that, the user must start again. */
export function keepChange(change: BegunChange): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(change));
  } catch {}
}

/** The change that was kept, once. */
export function takeChange(): BegunChange | undefined {
  try {
    const text = sessionStorage.getItem(storageKey);
    sessionStorage.removeItem(storageKey);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The result after the browser has come back from a provider. */
export type Returned =
  | { readonly kind: 'linked' }
  /** `begun`: the change that the user had begun, if this browser knows it. */
  | { readonly kind: 'proven'; readonly proof: ResumedProof; readonly begun: BegunChange | undefined };

/** Continues a link or a proof after the browser has come back. Null if this browser did not begin one. */
export async function takeReturn(client: AccountClient, signal: AbortSignal): Promise<Returned | null> {
  if ((await client.resumeLink(undefined, { signal })) !== null) return { kind: 'linked' };
  const proof = await client.resumeProof();
  return proof && { kind: 'proven', proof, begun: takeChange() };
}
