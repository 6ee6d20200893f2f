import type { Core } from '../core.js';
import { CancelledError, ForeignAnswerError, ProviderError, UnsupportedError, UsageError } from '../errors.js';
import { type MaybePromise, platform, type WebStorageArea } from '../platform.js';
import { loadPart } from '../transport.js';
import { browserOfPage } from './browser-of-page.js';

/** Where a redirect returns to, and how the browser gets to the provider. */
export interface RedirectOptions {
  /**
   * Where the browser returns to. `REDIRECT_URIS` of the service lists it as the same text. By default this page, without its query
   * and fragment.
   */
  readonly redirectTo?: string | undefined;
  /**
   * Opens a browser at `url`, in an app that is not a web page. Return the address of the browser's return, or null if the user closed it.
   * If the app gets the address later, return nothing, and pass it to `resumeRedirect`. By default, this page goes to `url`.
   */
  readonly open?: ((url: string, redirectTo: string) => MaybePromise<string | null | undefined>) | undefined;
}

/** The purpose of a redirect: a login, or, for a signed-in user, another account, a proof for a change or a step-up. */
type Purpose = 'login' | 'link' | 'proof' | 'step_up';

/** A redirect that this browser began, as the storage keeps it. */
interface Begun {
  readonly purpose: Purpose;
  readonly name: string;
  /** The change of the account that a proof is for. */
  readonly operation?: string | undefined;
  /** The service whose answer is expected. */
  readonly issuer: string;
  /** Absent if a backend keeps it. */
  readonly verifier?: string | undefined;
  /** By the clock of the device. */
  readonly expiresAt: number;
}

/** What the service answers to the beginning of a redirect. */
interface Started {
  readonly id: string;
  readonly challenge?: Readonly<Record<string, unknown>> | undefined;
}

/** A redirect that is ready to leave. */
export interface Departure {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: Date;
  /** Opens the browser. @returns the address with which it came back, if the app knows it already; null if the user closed it */
  leave(): Promise<string | null | undefined>;
}

/** A browser that has come back. */
export interface Return extends Pick<Begun, 'name' | 'operation'> {
  readonly id: string;
  readonly expiresAt: Date;
  /** The secret that completes the redirect, in the form of `POST …/{id}`. @throws ProviderError, CancelledError, ForeignAnswerError */
  secret(): string;
}

/**
 * Whether the browser blocks cookies for this page. Postern and backends need them to recognize a browser that comes back. A browser that
 * blocks cookies also refuses the storage of the page; Chromium shows only this.
 */
export function refusesCookies(): boolean {
  try {
    void (globalThis as { readonly sessionStorage?: unknown }).sessionStorage;
    return platform().navigator?.cookieEnabled === false;
  } catch {
    return true;
  }
}

const lifetimeMs = 600_000;
/** How many open redirects a browser keeps. */
const maxOpen = 8;
const indexKey = 'postern.redirect';
const keyOf = (id: string) => `${indexKey}.${id}`;

/** The browser leaves the page, so values in memory are lost. This copy is kept until the tab closes. */
function tabStorage(): WebStorageArea | undefined {
  try {
    return (globalThis as { readonly sessionStorage?: WebStorageArea }).sessionStorage;
  } catch {
    return undefined;
  }
}

/** Changes the copy of the tab. A browser may refuse it, as in a private window. */
function inTab(change: (storage: WebStorageArea) => void): void {
  const storage = tabStorage();
  try {
    if (storage !== undefined) change(storage);
  } catch {}
}

/** Each redirect has its own key, so that two tabs do not disturb each other. The index is used to remove redirects without a return. */
async function remember({ marks }: Core, id: string, begun: Begun): Promise<void> {
  const stored = readJson<readonly string[]>(await marks.get(indexKey)) ?? [];
  const open = [...stored, id];
  const dropped = open.splice(0, Math.max(0, open.length - maxOpen));
  const text = JSON.stringify(begun);
  inTab((storage) => storage.setItem(keyOf(id), text));
  await Promise.all([
    marks.set(keyOf(id), text),
    marks.set(indexKey, JSON.stringify(open)),
    ...dropped.map((one) => marks.delete(keyOf(one))),
  ]);
}

async function recall({ marks }: Core, id: string): Promise<Begun | undefined> {
  const text = (await marks.get(keyOf(id))) ?? tabStorage()?.getItem(keyOf(id)) ?? null;
  const begun = readJson<Begun>(text);
  return begun !== undefined && begun.expiresAt > Date.now() ? begun : undefined;
}

/** Deletes the stored values of a redirect, so that a later answer for it is ignored. */
export async function forget({ marks }: Core, id: string): Promise<void> {
  inTab((storage) => storage.removeItem(keyOf(id)));
  const stored = readJson<readonly string[]>(await marks.get(indexKey)) ?? [];
  const open = stored.filter((one) => one !== id);
  await Promise.all([
    marks.delete(keyOf(id)),
    open.length > 0 ? marks.set(indexKey, JSON.stringify(open)) : marks.delete(indexKey),
  ]);
}

function readJson<T>(text: string | null): T | undefined {
  try {
    return JSON.parse(text ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Begins a redirect, and remembers it.
 *
 * @param start sends the request that begins it
 * @throws UsageError outside of a page without `redirectTo` and `open`, UnsupportedError without a source of random bytes
 */
export async function beginRedirect<T extends Started>(
  core: Core,
  purpose: Purpose,
  name: string,
  { redirectTo = pageAddress(), open = openerOfPage() }: RedirectOptions,
  start: (body: { readonly redirect_to: string; readonly code_challenge?: string }) => Promise<T>,
  operation?: string,
): Promise<Departure> {
  if (redirectTo === undefined || open === undefined) {
    throw new UsageError('This is no page. Pass `redirectTo`, and `open`, which opens a browser.');
  }
  // A backend keeps the verifier itself, where no script can read it.
  const hasBackend = core.marks !== core.storage;
  const verifier = hasBackend ? undefined : randomText();
  const { id, challenge } = await start({
    redirect_to: redirectTo,
    ...(verifier !== undefined && { code_challenge: await challengeOf(verifier) }),
  });
  const url = challenge?.url;
  if (challenge?.type !== 'redirect' || typeof url !== 'string') throw new ForeignAnswerError(201);
  const expiresAt = Date.now() + lifetimeMs;
  const issuer = url.slice(0, url.lastIndexOf('/redirects/'));
  await remember(core, id, { purpose, name, operation, issuer, verifier, expiresAt });
  return { id, url, expiresAt: new Date(expiresAt), leave: async () => open(url, redirectTo) };
}

/**
 * The redirect whose answer is in the address. Undefined if this browser did not begin it: an attacker may have sent the address, to sign
 * this browser in to the attacker's account.
 */
export async function findReturn(core: Core, purpose: Purpose, address: string): Promise<Return | undefined> {
  const { authentication_id: id = '', iss, code = '', error } = parametersOf(address);
  if (!/^[\w-]{1,64}$/.test(id)) return undefined;
  const begun = await recall(core, id);
  if (begun !== undefined && begun.purpose !== purpose) return undefined;
  browserOfPage()?.clean(address, withoutAnswer(address));
  if (begun === undefined) return undefined;
  const { name, operation, issuer, verifier, expiresAt } = begun;
  return {
    id,
    name,
    operation,
    expiresAt: new Date(expiresAt),
    secret() {
      if (iss !== issuer) throw new ProviderError('failed');
      if (error === 'access_denied') throw new CancelledError();
      if (error === 'provider_unavailable' || error === 'expired') throw new ProviderError(error);
      if (error !== undefined || code === '') throw new ProviderError('failed');
      return JSON.stringify({ code, ...(verifier !== undefined && { code_verifier: verifier }) });
    },
  };
}

/** Without `URLSearchParams`, because React Native has only parts of it. The service adds its parameters after those of the address. */
function parametersOf(address: string): Readonly<Record<string, string | undefined>> {
  const query = /^[^?#]*\?([^#]*)/.exec(address)?.[1] ?? '';
  const decode = (text: string) => {
    try {
      return decodeURIComponent(text.replaceAll('+', ' '));
    } catch {
      return text;
    }
  };
  return Object.fromEntries(
    query.split('&').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [decode(name), decode(value.join('='))];
    }),
  );
}

/** An address without the parameters that the service has added. */
function withoutAnswer(address: string): string {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(address) ?? [];
  const rest = query.split('&').filter((pair) => !/^(authentication_id|code|iss|error)=/.test(pair));
  return path + (rest.join('&') && `?${rest.join('&')}`) + fragment;
}

const pageAddress = () => platform().location?.href.replace(/[?#].*$/s, '');

function openerOfPage(): RedirectOptions['open'] {
  const page = browserOfPage();
  return page && ((url) => page.leave(url));
}

interface RandomSource {
  getRandomValues(bytes: Uint8Array): Uint8Array;
  readonly subtle?: { digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer> };
}
const cryptoOf = () => (globalThis as { readonly crypto?: Partial<RandomSource> }).crypto;

/** 256 random bits as base64url. */
function randomText(): string {
  const bytes = new Uint8Array(32);
  const crypto = cryptoOf();
  if (crypto?.getRandomValues === undefined) throw new UnsupportedError('crypto.getRandomValues');
  crypto.getRandomValues(bytes);
  return base64url(bytes);
}

/** S256 of PKCE. */
async function challengeOf(verifier: string): Promise<string> {
  const subtle = cryptoOf()?.subtle;
  // A page that is not served over https, and React Native, have no `subtle`.
  if (subtle === undefined) {
    const { bytesOf, sha256 } = await loadPart(() => import('../sha256.js'));
    return base64url(bytesOf(sha256(verifier)));
  }
  const bytes = Uint8Array.from(verifier, (letter) => letter.charCodeAt(0));
  return base64url(new Uint8Array(await subtle.digest('SHA-256', bytes)));
}

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
