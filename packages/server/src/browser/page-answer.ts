import { copyOf, type ForwardedBody, type PageRequest } from './page-request.js';
import { objectOf, parseObject } from './redirects.js';

const headersToPage = [
  'cache-control',
  'content-type',
  'etag',
  'idempotent-replayed',
  'preference-applied',
  'request-id',
  'retry-after',
  'vary',
  'www-authenticate',
  'x-accel-buffering',
  'x-total-count',
  'x-total-count-capped',
];
/**
 * The challenge of a 401 for the cookie. After a challenge with Basic, a browser asks for a name and a password in a window of
 * its own, and the page waits until the user closes it.
 */
const cookieChallenge = 'Cookie realm="postern"';
const yearInSeconds = 31_536_000;

/** The answer if nobody is logged in. A page asks when it loads, and browsers show each 401 in their console as an error. */
export const nobody = ({ asksForSession }: PageRequest): Response =>
  asksForSession
    ? Response.json({ token: null }, { headers: { 'cache-control': 'no-store' } })
    : new Response(null, { status: 204 });

function removeGuest({ guest, cookies }: PageRequest, headers: Headers): void {
  if (guest !== undefined) headers.append('set-cookie', cookies.guest.remove());
}

export function removeLogin(page: PageRequest, headers: Headers): void {
  headers.append('set-cookie', page.cookies.login.remove());
  removeGuest(page, headers);
}

/** What the page gets of an answer of Postern. Its tokens go into cookies. */
export async function answerToPage(
  page: PageRequest,
  answer: Response,
  { redirect, asksForGuest }: Pick<ForwardedBody, 'redirect' | 'asksForGuest'>,
  basePath: string,
): Promise<Response> {
  const { cookies, request } = page;
  const { status } = answer;
  const headers = headersToPageOf(answer, basePath);
  if (page.endsLogin) removeLogin(page, headers);
  // A guest who has become a user is refused, too.
  if (page.mergesGuest && (answer.ok || status === 400)) removeGuest(page, headers);
  const addRedirectCookies = (answerText: string) => {
    const values = redirect?.cookiesAfter(parseObject(answerText) ?? {}) ?? [];
    for (const value of values) headers.append('set-cookie', value);
  };
  const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '');
  if (request.method === 'GET' || !answer.ok || !isJson) {
    if (answer.ok) addRedirectCookies('');
    const hasNoBody = request.method === 'HEAD' || [204, 205, 304].includes(status);
    return new Response(hasNoBody ? null : answer.body, { status, headers });
  }
  const answerText = await answer.text();
  addRedirectCookies(answerText);
  const { text, token, seconds, device } = withoutToken(answerText);
  if (token !== undefined) {
    headers.append('set-cookie', cookies.login.set(token, seconds));
    if (asksForGuest) headers.append('set-cookie', cookies.guest.set(token, seconds));
    headers.set('cache-control', 'no-store');
  }
  if (device !== undefined) headers.append('set-cookie', cookies.device.set(device, yearInSeconds));
  return new Response(text, { status, headers });
}

function headersToPageOf(answer: Response, basePath: string): Headers {
  const headers = copyOf(answer.headers, headersToPage);
  if (/\bbasic\b/i.test(headers.get('www-authenticate') ?? '')) headers.set('www-authenticate', cookieChallenge);
  const link = answer.headers.get('link');
  if (link !== null) {
    headers.set(
      'link',
      link.replace(/<(?:\/[^>?]*?)?\/v1\//g, () => `<${basePath}/v1/`),
    );
  }
  return headers;
}

/** Takes the authentication token out of an answer. */
function withoutToken(text: string) {
  const body = parseObject(text);
  // A registration answers with the account, and with its first login.
  const nested = objectOf(body?.authentication);
  const login = nested ?? body;
  const token = login?.token;
  if (login === undefined || typeof token !== 'string' || !token.startsWith('psa_')) return { text };
  const { token: _, ...loginForPage } = login;
  const bodyForPage = nested ? { ...body, authentication: loginForPage } : loginForPage;
  const { expires_at: end, device_id: device } = login;
  const secondsLeft = typeof end === 'string' ? Math.floor((Date.parse(end) - Date.now()) / 1000) : Number.NaN;
  return {
    text: JSON.stringify(bodyForPage),
    token,
    seconds: secondsLeft > 0 ? secondsLeft : yearInSeconds,
    device: typeof device === 'string' ? device : undefined,
  };
}
