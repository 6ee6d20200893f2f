import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startLoad } from '../support/fault-injection/load.js';
import { startFaultyProxy } from '../support/fault-injection/proxy.js';
import { createInstallation, isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, passwordLogin } from '../support/users.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** Seconds. Long enough for each part of the service to fail several times. */
const outage = isLong ? 60 : 12;

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly request_id?: string;
}

/** The lines of a log about problems. */
const linesOf = (log: string) =>
  log.split('\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Line] : []));

/** The number of lines with each message, without its figures. */
function countByMessage(lines: readonly Line[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { msg, request_id: id } of lines) {
    const message = id === undefined ? msg.replaceAll(/\d+/g, '#') : 'a request';
    counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

/** A service whose database goes away in one way. */
async function startRig(how: 'down' | 'hang') {
  const storage = await createTestDatabase();
  const { host, port } = inject('server');
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  const url = new URL(storage.url);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${proxy.port}`;
  const installation = await createInstallation({ DATABASE_URL: url.href, LOG_LEVEL: 'info' });
  const service = await installation.start();
  return {
    ...{ how, proxy, service },
    async close() {
      await proxy.up();
      await service.stop();
      await proxy.close();
      await installation.remove();
      await storage.drop();
    },
  };
}
type Rig = Awaited<ReturnType<typeof startRig>>;

// Both ways at the same time, because each outage takes seconds in which nothing is computed.
let rigs: readonly Rig[] = [];
beforeAll(async () => {
  rigs = await Promise.all([startRig('down'), startRig('hang')]);
});
afterAll(async () => {
  await Promise.all(rigs.map((rig) => rig.close()));
});

/** What the log of a service shows of an outage. */
async function observeOutage({ how, proxy, service }: Rig, traffic: boolean) {
  const { username } = await createUser(service);
  const log = () => service.stdout() + service.stderr();
  const known = linesOf(log()).length;
  const load = traffic
    ? startLoad({
        login: {
          send: () => service.api('POST', '/v1/tokens', { body: passwordLogin(username) }),
          expected: () => true,
        },
      })
    : undefined;
  const startedAt = performance.now();
  proxy[how]();
  await wait(outage * 1000);
  await proxy.up();
  await load?.stop();
  const seconds = Math.ceil((performance.now() - startedAt) / 1000);
  const counts = countByMessage(
    linesOf(log())
      .slice(known)
      .filter(({ level }) => level !== 'info'),
  );
  const requests = counts.get('a request') ?? 0;
  counts.delete('a request');
  // The next outage begins when this one is over, also in the log.
  await eventually(
    'the end of the outage',
    async () =>
      linesOf(log())
        .slice(known)
        .some(({ msg }) => msg.startsWith('the database answers again')) || undefined,
  );
  return { how, seconds, requests, others: [...counts] };
}

test.each([false, true])(
  'while the database is away, each message is logged once, and requests once a second (with traffic: %s)',
  async (traffic) => {
    const outages = await Promise.all(rigs.map((rig) => observeOutage(rig, traffic)));
    expect(outages).toHaveLength(2);
    for (const { how, seconds, requests, others } of outages) {
      expect({ how, repeated: others.filter(([, count]) => count > 1) }).toEqual({ how, repeated: [] });
      expect(requests, how).toBeLessThanOrEqual(seconds + 1);
      expect(requests > 0, how).toBe(traffic);
    }
  },
);
