/**
 * The code verifiers of logins, links and proofs by redirect (PKCE). The backend makes them and keeps each in a cookie that no script can
 * read, so that a script of the page cannot end a login that it has observed.
 */

/** The lifetime of a redirect in seconds. */
const lifetime = 600;
const begins = /^\/v1\/(tokens|account\/(external-identities\/[^/]+|proofs))$/;
const ends = /^\/v1\/(?:tokens\/([\w-]{36})\/secret|account\/external-identities\/[^/]+\/([\w-]{36}))$/;

/** Any change of the account can contain a proof. */
const proves = /^\/v1\/account(\/|$)/;

/** Whether a request to this route may begin or end a redirect. */
export const mayRedirect = (method: string, route: string) =>
  proves.test(route) || (method === 'POST' && (begins.test(route) || ends.test(route)));

/** The cookie of one redirect. */
interface VerifierCookie {
  read(header: string | undefined): string | undefined;
  set(value: string, seconds: number): string;
  remove(): string;
}

/** A body to send, and the cookie that its answer sets. */
export interface RedirectBody {
  readonly text: string;
  /**
   * @param answer the body of a successful answer
   * @returns the values of `Set-Cookie`
   */
  readonly cookiesAfter: (answer: Readonly<Record<string, unknown>>) => readonly string[];
}

/**
 * Adds the code challenge to a request that begins a redirect, and the verifier to the one that ends it, or that uses the proof of
 * one. A request can do both: with a proof at one provider, it begins the link of another.
 */
export async function withPkce(
  route: string,
  text: string,
  cookieHeader: string | undefined,
  cookieOf: (id: string) => VerifierCookie,
): Promise<RedirectBody> {
  const body = parseObject(text);
  if (body === undefined) return { text, cookiesAfter: () => [] };
  const steps = [
    await challenged(route, body, cookieOf),
    ended(route, body, cookieHeader, cookieOf),
    proven(route, body, cookieHeader, cookieOf),
  ].filter((step) => step !== undefined);
  if (steps.length === 0) return { text, cookiesAfter: () => [] };
  return {
    text: JSON.stringify(Object.assign({}, body, ...steps.map(({ members }) => members))),
    cookiesAfter: (answer) => steps.flatMap(({ cookieAfter }) => cookieAfter(answer) ?? []),
  };
}

/** Members that replace those of a body, and the cookie that the answer sets. */
interface Step {
  readonly members: object;
  readonly cookieAfter: (answer: Readonly<Record<string, unknown>>) => string | undefined;
}
type CookieOf = (id: string) => VerifierCookie;
type Body = Readonly<Record<string, unknown>>;

async function challenged(route: string, body: Body, cookieOf: CookieOf): Promise<Step | undefined> {
  if (!begins.test(route) || typeof body.redirect_to !== 'string' || 'code_challenge' in body) return undefined;
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return {
    members: { code_challenge: base64url(new Uint8Array(digest)) },
    cookieAfter: ({ id, challenge }) =>
      typeof id === 'string' && (challenge as { readonly type?: unknown } | undefined)?.type === 'redirect'
        ? cookieOf(id).set(verifier, lifetime)
        : undefined,
  };
}

function ended(route: string, body: Body, header: string | undefined, cookieOf: CookieOf): Step | undefined {
  const [, login, link] = ends.exec(route) ?? [];
  const id = login ?? link;
  const verified = id === undefined ? undefined : withVerifier(body.secret, cookieOf(id), header);
  return verified && { ...verified, members: { secret: verified.secret } };
}

function proven(route: string, body: Body, header: string | undefined, cookieOf: CookieOf): Step | undefined {
  const proof = objectOf(body.proof);
  if (!proves.test(route) || proof?.type !== 'provider' || !/^[\w-]{36}$/.test(`${proof.id}`)) return undefined;
  const verified = withVerifier(proof.secret, cookieOf(`${proof.id}`), header);
  return verified && { ...verified, members: { proof: { ...proof, secret: verified.secret } } };
}

/** Adds the verifier of a redirect to the code with which the browser has come back. */
function withVerifier(secretText: unknown, cookie: VerifierCookie, header: string | undefined) {
  const secret = parseObject(typeof secretText === 'string' ? secretText : '');
  const verifier = cookie.read(header);
  if (secret?.code === undefined || 'code_verifier' in secret || verifier === undefined) return undefined;
  return { secret: JSON.stringify({ ...secret, code_verifier: verifier }), cookieAfter: () => cookie.remove() };
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
