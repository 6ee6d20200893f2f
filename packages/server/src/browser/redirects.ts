/**
 * The code verifiers of logins and links by redirect (PKCE). The backend makes them and keeps each in a cookie that no script can
 * read, so that a script of the page cannot end a login that it has observed.
 */

/** The lifetime of a redirect in seconds. */
const lifetime = 600;
const begins = /^\/v1\/(tokens|account\/external-identities\/[^/]+)$/;
const ends = /^\/v1\/(?:tokens\/([\w-]{36})\/secret|account\/external-identities\/[^/]+\/([\w-]{36}))$/;

/** Whether a POST to this route may begin or end a redirect. */
export const mayRedirect = (route: string) => begins.test(route) || ends.test(route);

/** The cookie of one redirect. */
interface VerifierCookie {
  read(header: string | undefined): string | undefined;
  set(value: string, seconds: number): string;
  remove(): string;
}

/** A body to send, and the cookie that its answer sets. */
export interface RedirectBody {
  readonly text: string;
  /** @param answer the body of a successful answer @returns the value of `Set-Cookie` */
  readonly cookieAfter: (answer: Readonly<Record<string, unknown>>) => string | undefined;
}

/** Adds the code challenge to a request that begins a redirect, and the verifier to the one that ends it. */
export async function withPkce(
  route: string,
  text: string,
  cookieHeader: string | undefined,
  cookieOf: (id: string) => VerifierCookie,
): Promise<RedirectBody> {
  const unchanged = { text, cookieAfter: () => undefined };
  const body = parseObject(text);
  if (begins.test(route)) {
    if (typeof body?.redirect_to !== 'string' || 'code_challenge' in body) return unchanged;
    const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    return {
      text: JSON.stringify({ ...body, code_challenge: base64url(new Uint8Array(digest)) }),
      cookieAfter: ({ id, challenge }) =>
        typeof id === 'string' && (challenge as { readonly type?: unknown } | undefined)?.type === 'redirect'
          ? cookieOf(id).set(verifier, lifetime)
          : undefined,
    };
  }
  const [, login, link] = ends.exec(route) ?? [];
  const cookie = cookieOf(login ?? link ?? '');
  const secret = parseObject(typeof body?.secret === 'string' ? body.secret : '');
  const verifier = cookie.read(cookieHeader);
  if (secret?.code === undefined || 'code_verifier' in secret || verifier === undefined) return unchanged;
  return {
    text: JSON.stringify({ ...body, secret: JSON.stringify({ ...secret, code_verifier: verifier }) }),
    cookieAfter: () => cookie.remove(),
  };
}

/** A JSON object. Undefined for other texts. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** An object that is no array. Undefined for other values. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
