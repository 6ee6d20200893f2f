// A backend that keeps logins in cookies: see docs/web-apps.md. It needs Node.js and no packages.
//
//   POSTERN=http://127.0.0.1:8080 ORIGIN=https://app.example.com PORT=3000 node docs/examples/web-app.js
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

const { POSTERN, ORIGIN, PORT } = process.env;
const loginCookie = '__Host-login';
const deviceCookie = '__Host-device';
const yearInSeconds = 31_536_000;

/** Calls Postern for the client that sent the request. */
function postern(request, path, options) {
  const { remoteAddress } = request.socket;
  const earlier = request.headers['x-forwarded-for'];
  const addresses = earlier === undefined ? remoteAddress : `${earlier}, ${remoteAddress}`;
  return fetch(POSTERN + path, { ...options, headers: { ...options.headers, 'x-forwarded-for': addresses } });
}

/** Promises of sessions, by authentication token: parallel requests of a user share one. */
const sessions = new Map();

function sessionOf(request, token) {
  let session = sessions.get(token);
  if (session === undefined) {
    session = createSession(request, token);
    sessions.set(token, session);
    session.catch(() => sessions.delete(token));
  }
  return session;
}

async function createSession(request, token) {
  const headers = { authorization: `Basic ${btoa(token)}` };
  const answer = await postern(request, '/v1/sessions', { method: 'POST', headers });
  if (answer.status !== 201) throw Object.assign(new Error('There is no session.'), { status: answer.status });
  // Only to free memory: a session that has ended is replaced after a 401.
  setTimeout(() => sessions.delete(token), 3_600_000).unref();
  return answer.json();
}

/** Other sites cannot send these headers with a value of their choice. */
function isFromOwnPage({ method, headers }) {
  if (method === 'GET' || method === 'HEAD') return true;
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === ORIGIN : site === 'same-origin';
}

const cookiesOf = ({ headers }) =>
  Object.fromEntries((headers.cookie ?? '').split('; ').map((pair) => pair.split('=')));

const cookie = (name, value, seconds) =>
  `${name}=${value}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=${seconds}`;

async function bodyOf(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > 65_536) throw Object.assign(new Error('The body is too large.'), { status: 413 });
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const jsonOf = async (request) => JSON.parse(await bodyOf(request)) ?? {};

async function logIn(request, response, path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await postern(request, path, { method: 'POST', headers, body: JSON.stringify(body) });
  const { token, ...shown } = await answer.json();
  const cookies = [];
  if (token !== undefined) cookies.push(cookie(loginCookie, token, yearInSeconds));
  if (shown.device_id !== undefined) cookies.push(cookie(deviceCookie, shown.device_id, yearInSeconds));
  response.writeHead(answer.status, { 'content-type': 'application/json', 'set-cookie': cookies });
  response.end(JSON.stringify(shown));
}

async function logOut(request, response) {
  const token = cookiesOf(request)[loginCookie];
  if (token !== undefined) {
    const headers = { authorization: `Basic ${btoa(token)}` };
    const answer = await postern(request, '/v1/tokens', { method: 'DELETE', headers });
    // 401: it has ended already. Otherwise the user is still logged in.
    if (answer.status !== 200 && answer.status !== 401) {
      throw Object.assign(new Error('The login has not ended.'), { status: 503 });
    }
    sessions.delete(token);
  }
  response.writeHead(204, { 'set-cookie': cookie(loginCookie, '', 0) }).end();
}

/** Sends a request of the page to Postern, with a session. */
async function forward(request, response, path) {
  const token = cookiesOf(request)[loginCookie];
  if (token === undefined) throw Object.assign(new Error('There is no login.'), { status: 401 });
  const body = await bodyOf(request);
  const closed = new AbortController();
  response.once('close', () => closed.abort());

  const send = async () => {
    const session = await sessionOf(request, token);
    const headers = { authorization: `Bearer ${session.token}` };
    for (const name of ['accept', 'accept-language', 'content-type', 'if-none-match', 'last-event-id', 'prefer']) {
      if (request.headers[name] !== undefined) headers[name] = request.headers[name];
    }
    const { method } = request;
    return postern(request, path, { method, headers, body: body.length > 0 ? body : undefined, signal: closed.signal });
  };
  let answer = await send();
  if (answer.status === 401) {
    sessions.delete(token);
    answer = await send();
  }

  const headers = {};
  for (const name of ['cache-control', 'content-type', 'etag', 'retry-after', 'x-accel-buffering', 'x-total-count']) {
    if (answer.headers.has(name)) headers[name] = answer.headers.get(name);
  }
  if (answer.headers.has('link')) headers.link = answer.headers.get('link').replaceAll('</v1/', '</api/');
  response.writeHead(answer.status, headers).flushHeaders();
  if (answer.body === null) response.end();
  else
    Readable.fromWeb(answer.body)
      .on('error', () => response.destroy())
      .pipe(response);
}

async function handle(request, response) {
  const { method } = request;
  // This also resolves `..`, so that no path leads out of what is forwarded.
  const { pathname, search } = new URL(request.url, 'http://backend');
  const [, id] = /^\/login\/([0-9a-f-]{36})$/.exec(pathname) ?? [];
  if (!isFromOwnPage(request)) {
    response.writeHead(403).end();
  } else if (method === 'POST' && pathname === '/login') {
    const { identity, authenticator, secret, pin } = await jsonOf(request);
    const device = { id: cookiesOf(request)[deviceCookie], ...describeBrowser(request.headers['user-agent']) };
    await logIn(request, response, '/v1/tokens', { identity, authenticator, secret, pin, device });
  } else if (method === 'POST' && id !== undefined) {
    const { secret, pin } = await jsonOf(request);
    await logIn(request, response, `/v1/tokens/${id}/secret`, { secret, pin });
  } else if (method === 'POST' && pathname === '/logout') {
    await logOut(request, response);
  } else if (/^\/api\/(notifications|devices)(\/|$)/.test(pathname)) {
    await forward(request, response, pathname.replace('/api/', '/v1/') + search);
  } else {
    response.writeHead(404).end();
  }
}

/** What the user sees in the list of devices and in notices. */
function describeBrowser(userAgent = '') {
  const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'];
  const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
  const names = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' };
  const nameOf = (found) => names[found] ?? found ?? null;
  return {
    make: nameOf(browsers.find((name) => userAgent.includes(`${name}/`))),
    os_name: nameOf(systems.find((name) => userAgent.includes(name))),
  };
}

createServer((request, response) => {
  handle(request, response).catch((error) => {
    if (response.headersSent) return response.destroy();
    const status = error instanceof SyntaxError ? 400 : (error.status ?? 503);
    // The login has ended: the page shows its form.
    if (status === 401) response.setHeader('set-cookie', cookie(loginCookie, '', 0));
    response.writeHead(status).end();
  });
}).listen(PORT);
