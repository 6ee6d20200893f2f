// What local checks of access tokens cost beside bare jose, and how soon 100 verifiers refuse a token after a logout. After `npm run build`
// and the build of packages/client and packages/server: `node bench/revocations.mjs [rounds] [seconds]`. It writes bench/RESULTS.md.
import { createPosternServer } from '@postern/server';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { processCpu, shown, summarise, table, takeTurns } from './measure.mjs';
import { sample } from './operations.mjs';
import { record } from './results.mjs';
import { startPostern, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
const issuer = 'https://auth.example.com';
const audience = 'https://api.example.com';
const verifierCount = 100;
const logouts = 50;
const parallel = 8;

await withFilledPostern({ sizes }, async ({ pool, dataDir, keep }) => {
  const postern = keep(await startPostern(dataDir, { PUBLIC_URL: issuer }));
  const call = async (path, bearer, body, method = 'POST') => {
    const answer = await fetch(`${postern.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.status === 204 ? undefined : answer.json();
  };
  await call('/admin/v1/audiences', postern.adminKey, { uri: audience });
  const { anyone } = await sample(pool, { ...sizes, owners: 1500 });
  const tokens = [];
  for (const { session } of anyone.slice(0, 100)) {
    tokens.push((await call('/v1/access-tokens', session, { audience })).access_token);
  }
  const options = { url: postern.url, apiKey: postern.adminKey, audience, issuer };

  const server = createPosternServer(options);
  const keys = createLocalJWKSet(await (await fetch(`${postern.url}/.well-known/jwks.json`)).json());
  const checks = { issuer, audience, algorithms: ['ES256', 'RS256'], typ: 'at+jwt' };
  const loop = (check) => async () => {
    const times = [];
    const since = performance.now();
    let next = 0;
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let now = performance.now(); now - since < seconds * 1000; ) {
          const began = now;
          next += 1;
          if ((await check(tokens[next % tokens.length])) === null) throw new Error('a token was refused');
          now = performance.now();
          times.push(now - began);
        }
      }),
    );
    return summarise(times, (performance.now() - since) / 1000);
  };
  const results = await takeTurns(
    [
      { name: 'jose', pid: process.pid, run: loop((token) => jwtVerify(token, keys, checks)) },
      { name: '`verify` with `local`', pid: process.pid, run: loop((token) => server.verify(token, { local: true })) },
    ],
    rounds,
  );
  server.close();
  const rows = [['What', 'per second', 'p50 ms', 'p99 ms', 'µs of CPU', 'rate by that of jose']];
  for (const { name, rate, p50, p99, cpu, ratio } of results)
    rows.push([name, ...[rate, p50, p99, cpu, 1 / ratio].map(shown)]);

  // Each verifier has a stream of its own. Its fetch notes when the text of a revocation arrives.
  const expected = { sub: '', since: 0, times: [] };
  const noting = async (input, init) => {
    const answer = await fetch(input, init);
    if (!`${input}`.endsWith('/v1/revocations')) return answer;
    const decoder = new TextDecoder();
    const body = answer.body.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          if (decoder.decode(chunk).includes(expected.sub)) expected.times.push(performance.now() - expected.since);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(body, answer);
  };
  const verifiers = Array.from({ length: verifierCount }, () => createPosternServer({ ...options, fetch: noting }));
  await Promise.all(verifiers.map((verifier) => verifier.verify(tokens[0], { local: true })));
  const all = [];
  const cpuBefore = processCpu(postern.pid);
  const began = performance.now();
  for (const token of tokens.slice(0, logouts)) {
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
    Object.assign(expected, { sub, since: performance.now(), times: [] });
    await call(`/admin/v1/users/${sub}/logout`, postern.adminKey);
    while (new Set(expected.times).size < verifierCount && performance.now() - expected.since < 10_000)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const missing = await Promise.all(verifiers.map((verifier) => verifier.verify(token, { local: true })));
    if (missing.some((session) => session !== null)) throw new Error('a verifier accepts a token after the logout');
    all.push(...expected.times.slice(0, verifierCount));
    // So that logouts meet all phases of the timer.
    await new Promise((resolve) => setTimeout(resolve, 37));
  }
  const { p50, p99 } = summarise(all, 1);
  const cpu = (processCpu(postern.pid) - cpuBefore) / ((performance.now() - began) * 1000);
  const idle = [processCpu(postern.pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const idleCpu = (processCpu(postern.pid) - idle[0]) / ((performance.now() - idle[1]) * 1000);
  for (const verifier of verifiers) verifier.close();
  const text = `Checks of access tokens signed with ES256 in one process, ${parallel} at a time, 100 tokens, beside jose with the same checks. Medians of ${rounds} rounds of ${seconds} s in turns. Wanted: 0.9 of the rate of jose.

${table(rows)}

${logouts} logouts of users, ${verifierCount} verifiers with a stream each, on the same machine. From the request of the logout to the arrival at each verifier: p50 ${shown(p50)} ms, p99 ${shown(p99)} ms, at most ${shown(Math.max(...all))} ms. Wanted: p99 under 1,000 ms. The service used ${shown(cpu * 100)} % of a core meanwhile, and ${shown(idleCpu * 100)} % with the ${verifierCount} streams and nothing to tell.`;
  await record('revocations', text);
  console.log(text);
});
process.exit();
