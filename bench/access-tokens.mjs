// How many access tokens a process issues, beside the bare signature of the same payload: `npm run build && node
// bench/access-tokens.mjs [rounds] [seconds]`. It writes bench/RESULTS.md.
import { generateKeyPairSync, sign } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { closedLoop, request } from './load.mjs';
import { shown, summarise, table, takeTurns } from './measure.mjs';
import { oneAfterAnother, sample } from './operations.mjs';
import { record } from './results.mjs';
import { startPostern, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
const issuer = 'https://auth.example.com';
const audience = 'https://api.example.com';
/** Connections, and signatures at the same time. */
const parallel = 64;

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const joseKey = await importPKCS8(privateKey.export({ format: 'pem', type: 'pkcs8' }), 'ES256');
const header = { alg: 'ES256', typ: 'at+jwt', kid: crypto.randomUUID() };
const payload = {
  ...{ iss: issuer, aud: audience, client_id: 'postern', jti: crypto.randomUUID(), sub: crypto.randomUUID() },
  ...{ sid: crypto.randomUUID(), iat: 1_900_000_000, exp: 1_900_000_300, auth_time: 1_900_000_000, amr: ['pwd'] },
};

const options = { key: privateKey, dsaEncoding: 'ieee-p1363' };
const base64url = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
/** As the service does it. */
async function signWithNode() {
  const content = `${base64url(header)}.${base64url(payload)}`;
  const signature = sign('sha256', Buffer.from(content), options);
  return `${content}.${signature.toString('base64url')}`;
}
const signWithJose = () => new SignJWT(payload).setProtectedHeader(header).sign(joseKey);

/** Signs the same payload again and again, in this process. */
async function repeat(signOne) {
  const times = [];
  const since = performance.now();
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (let now = performance.now(); now - since < seconds * 1000; ) {
        const began = now;
        await signOne();
        now = performance.now();
        times.push(now - began);
      }
    }),
  );
  return summarise(times, (performance.now() - since) / 1000);
}

await withFilledPostern({ sizes }, async ({ pool, dataDir, keep }) => {
  const postern = keep(await startPostern(dataDir, { PUBLIC_URL: issuer }));
  const created = await fetch(`${postern.url}/admin/v1/audiences`, {
    method: 'POST',
    headers: { authorization: `Bearer ${postern.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ uri: audience }),
  });
  if (created.status !== 201) throw new Error(await created.text());
  const { anyone } = await sample(pool, { ...sizes, owners: 1500 });
  const next = oneAfterAnother(
    anyone.map(({ session }) =>
      request('POST', `${postern.url}/v1/access-tokens`, { authorization: `Bearer ${session}`, body: { audience } }),
    ),
  );
  const results = await takeTurns(
    [
      { name: 'the signature alone, as the service signs', run: () => repeat(signWithNode), pid: process.pid },
      { name: 'the signature alone, by jose', run: () => repeat(signWithJose), pid: process.pid },
      {
        ...{ name: '`POST /v1/access-tokens`', pid: postern.pid, dataDir },
        run: () => closedLoop({ ...postern, next, connections: parallel, seconds }),
      },
    ],
    rounds,
  );
  const [, jose] = results;
  const rows = [
    ['What', 'per second', 'p50 ms', 'p99 ms', 'µs of CPU', 'of PostgreSQL', 'by the signature', 'by jose'],
  ];
  for (const { name, rate, p50, p99, cpu, databaseCpu, ratio } of results) {
    rows.push([name, ...[rate, p50, p99, cpu, databaseCpu, 1 / ratio, jose.ratio / ratio].map(shown)]);
  }
  await record(
    'access-tokens',
    `Access tokens signed with ES256, each for a session of another user, at ${parallel} connections, beside ${parallel} signatures of the same payload at a time in a process of its own. The service shares both cores with PostgreSQL and the load generator. The last columns divide the rate by that of the signatures. Medians of ${rounds} rounds of ${seconds} s in turns. Wanted: 0.4 of the rate of the signature by jose, as most services sign.\n\n${table(rows)}`,
  );
  console.log(table(rows));
});
