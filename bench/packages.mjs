// What the packages for apps cost, after `npm run build` and `npm run build -w packages/server`:
// `node bench/packages.mjs [rounds] [seconds]`. It measures the middleware of @postern/server in an Express app, and sessions with
// DPoP proofs, as @postern/client sends them, compared with sessions without. It writes a section of bench/RESULTS.md.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { password } from './generate.mjs';
import { closedLoop, request } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { startProcess, withFilledPostern } from './service.mjs';

const [rounds = 7, seconds = 2] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
/** The number of users with a token of each kind. */
const logins = 100;
const connections = 32;

await withFilledPostern({ sizes }, async ({ postern, pool, dataDir, keep }) => {
  const users = await sample(pool, { ...sizes, owners: 1500 });
  const parts = [await middleware(postern, users, keep), await proofs({ ...postern, dataDir }, users.anyone)];
  await record('packages', parts.join('\n\n'));
  console.log(parts.join('\n\n'));
});

async function middleware(postern, users, keep) {
  const app = keep(await startProcess([fileURLToPath(new URL('express-app.mjs', import.meta.url)), postern.url]));
  const routes = { empty: 'an empty route', 'by-hand': 'a route with its own `fetch`', middleware: 'the middleware' };
  // The requests of all routes have the same bytes, except for the path.
  const { verify } = operations({ ...postern, url: app.url }, users);
  const all = Array.from({ length: verify.once }, () => verify().toString('latin1'));
  const results = await takeTurns(
    Object.entries(routes).map(([path, name]) => {
      const messages = all.map((text) => Buffer.from(text.replace('/v1/sessions/verify', `/${path}`), 'latin1'));
      let nth = 0;
      const next = () => messages[nth++ % messages.length];
      return { ...app, name, run: () => closedLoop({ ...app, next, connections, seconds }) };
    }),
    rounds,
  );
  const [empty, byHand, own] = results;
  const added = (own.cpu - byHand.cpu) / empty.cpu;
  const rows = results.map(({ name, rate, cpu, p50, p99 }) => [name, ...[rate, cpu, p50, p99].map(shown)]);
  return `### The middleware of @postern/server

An Express ${(await import('express/package.json', { with: { type: 'json' } })).default.version} app with ${connections} connections, and the tokens of ${all.length.toLocaleString('en')} users. The CPU time is that of the app alone.

${table([['Route', 'requests/s', 'µs of CPU each', 'p50 ms', 'p99 ms'], ...rows])}

The CPU time of the middleware minus that of the route with its own \`fetch\` is ${shown(own.cpu - byHand.cpu)} µs. This is ${shown(100 * added)} % of the CPU time of the empty route (wanted: < 10 %: ${added < 0.1 ? 'met' : 'MISSED'}).`;
}

async function proofs(postern, anyone) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const jwk = { kty, crv, x, y };
  const url = `${postern.url}/v1/sessions`;
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encode({ typ: 'dpop+jwt', alg: 'ES256', jwk });

  async function tokenOf(username, key) {
    const body = { identity: { type: 'username', value: username }, authenticator: 'password', secret: password };
    const answer = await fetch(`${postern.url}/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, device: key === undefined ? {} : { jwk: key } }),
    });
    const { token, error_code } = await answer.json();
    if (typeof token !== 'string') throw new Error(`The login failed: ${answer.status} ${error_code}`);
    return token;
  }
  const basic = (token) => ({ authorization: `Basic ${Buffer.from(token).toString('base64')}` });
  function proofOf(token, nonce) {
    const claims = {
      ...{ htm: 'POST', htu: url, iat: Math.floor(Date.now() / 1000), jti: randomBytes(18).toString('base64url') },
      ath: createHash('sha256').update(token).digest('base64url'),
      ...(nonce !== null && { nonce }),
    };
    const signed = `${head}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
  const plain = [];
  const bound = [];
  for (const { username } of anyone.slice(0, logins)) plain.push(await tokenOf(username));
  for (const { username } of anyone.slice(logins, 2 * logins)) bound.push(await tokenOf(username, jwk));

  const plainRequests = plain.map((token) => request('POST', url, basic(token)));
  async function withProofs(duration) {
    const first = await fetch(url, {
      method: 'POST',
      headers: { ...basic(bound[0]), dpop: proofOf(bound[0], null) },
    });
    const nonce = first.headers.get('dpop-nonce');
    // Each proof is accepted once, so they are signed before the time is measured.
    const messages = Array.from({ length: duration * perSecond }, (_, nth) => {
      const token = bound[nth % bound.length];
      return request('POST', url, { ...basic(token), dpop: proofOf(token, nonce) });
    });
    return closedLoop({ ...postern, next: () => messages.pop(), connections, seconds: duration });
  }
  let nth = 0;
  const next = () => plainRequests[nth++ % plainRequests.length];
  const measured = () => closedLoop({ ...postern, next, connections, seconds });
  // More proofs than the service can check, even if proofs cost nothing.
  const perSecond = Math.ceil((await measured()).rate * 1.5);
  const results = await takeTurns(
    [
      { ...postern, name: 'with a proof', run: () => withProofs(seconds) },
      { ...postern, name: 'without', run: measured },
    ],
    rounds,
  );
  const rows = results.map(({ name, rate, cpu, databaseCpu, p50, p99 }) => [
    name,
    ...[rate, cpu, databaseCpu, p50, p99].map(shown),
  ]);
  return `### \`POST /v1/sessions\` with DPoP proofs

${connections} connections, and ${logins} tokens of each kind. Proofs are signed by ES256 with a nonce of Postern, before the time is measured.

${table([['Request', 'requests/s', 'µs of CPU each', 'PostgreSQL µs', 'p50 ms', 'p99 ms'], ...rows])}

The rate with a proof is ${shown(results[1].ratio)} of the rate without: the median of the ratios of all rounds.`;
}
