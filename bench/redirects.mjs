// What logins at providers cost others: session checks and logins with a password of a service without providers, of one with
// providers, and of one whose provider does not answer: `npm run build && node bench/redirects.mjs [rounds] [seconds]`. It
// writes bench/RESULTS.md.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoop } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { startPostern, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
/** Browsers that wait for the provider: more than exchanges run at a time. */
const waiting = 40;
const exchanges = 32;
const publicUrl = 'http://127.0.0.1:9';
const returnTo = 'https://app.example.com/callback';

/** A provider that says where its pages are, and never answers the token request. */
let asked = 0;
const provider = createServer((request, response) => {
  const issuer = `http://${request.headers.host}`;
  if (!request.url.endsWith('/openid-configuration')) {
    asked += 1;
    return;
  }
  const document = {
    issuer,
    jwks_uri: `${issuer}/keys`,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const issuer = `http://127.0.0.1:${provider.address().port}`;

const settings = {
  ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
  OIDC_PROVIDERS: JSON.stringify(
    Object.fromEntries(
      ['google', 'apple', 'other'].map((name) => [name, { issuer, client_id: 'ours', sign_up: true }]),
    ),
  ),
};

/** A browser that logs in at the provider, and waits for its end, which is an error. */
async function goThrough({ url }) {
  const verifier = randomBytes(32).toString('base64url');
  const begun = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ authenticator: 'oidc:google', redirect_to: returnTo, device: {} },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    }),
  });
  const { challenge } = await begun.json();
  const left = await fetch(challenge.url.replace(publicUrl, url), { redirect: 'manual' });
  const cookie = left.headers.get('set-cookie').split(';')[0];
  const state = new URL(left.headers.get('location')).searchParams.get('state');
  const answer = new URLSearchParams({ code: 'a code', state });
  const back = await fetch(`${url}/callback/google?${answer}`, { redirect: 'manual', headers: { cookie } });
  const error = new URL(back.headers.get('location')).searchParams.get('error');
  if (error !== 'provider_unavailable') throw new Error(`the provider has answered: ${error}`);
}

/** Runs work while browsers wait for the provider. */
async function meanwhile(service, work) {
  asked = 0;
  const browsers = Promise.all(Array.from({ length: waiting }, () => goThrough(service)));
  while (asked < exchanges) await wait(50);
  const result = await work();
  const timer = setInterval(() => provider.closeAllConnections(), 50);
  await browsers;
  clearInterval(timer);
  return result;
}

try {
  await withFilledPostern({ sizes }, async ({ postern, pool, dataDir, keep }) => {
    const configured = keep(await startPostern(dataDir, settings));
    const people = await sample(pool, { ...sizes, owners: 1500 });
    const rows = [['Request', 'Service', 'per second', 'p50 ms', 'p99 ms', 'µs of CPU', 'rate by that without']];
    for (const [kind, connections] of [
      ['verify', 64],
      ['login', 16],
    ]) {
      const of = (service) => () =>
        closedLoop({ ...service, next: operations(service, people)[kind], connections, seconds });
      const results = await takeTurns(
        [
          { ...postern, name: 'no provider', run: of(postern) },
          { ...configured, name: 'three providers', run: of(configured) },
          { ...configured, name: `${waiting} browsers wait`, run: () => meanwhile(configured, of(configured)) },
        ],
        rounds,
      );
      for (const { name, rate, p50, p99, cpu, ratio } of results) {
        rows.push([kind, name, ...[rate, p50, p99, cpu, 1 / ratio].map(shown)]);
      }
    }
    await record(
      'redirects',
      `Session checks (64 connections) and logins with a password (16) of a service without providers, of one with three, and of one while ${waiting} browsers wait for a provider that never answers. Medians of ${rounds} rounds of ${seconds} s in turns. Wanted: a check and a login cost at most 2 % more with providers, and a provider that hangs delays nobody.\n\n${table(rows)}`,
    );
    console.log(table(rows));
  });
} finally {
  provider.close();
}
