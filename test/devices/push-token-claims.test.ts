import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { repeatClaim } from '../../src/devices/push-devices.js';
import { completeClaim } from '../../src/devices/push-token-claims.js';
import { sha256 } from '../../src/lib/crypto/digests.js';
import { nilId, orderedId } from '../../src/lib/ids.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { hexToken } from '../support/push.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, signIn } from '../support/users.js';

interface Phone {
  readonly userId: string;
  readonly deviceId: string;
  readonly session: string;
}

let shards: TestShards;
let app: TestApp;
/** A logged-in user of each server. */
const phones = new Map<string, Phone>();

beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { LOGIN_LIMIT_PER_ADDRESS: '0' });
  while (phones.size < 3) {
    const user: User = await createUser(app);
    const { session } = await signIn(app, user);
    const { name } = app.database.shardOf(user.id);
    phones.set(name, { userId: user.id, deviceId: session.device_id, session: session.token });
  }
});
afterAll(() => app.close());

async function createUserOn(server: string): Promise<User> {
  for (;;) {
    const user = await createUser(app);
    if (app.database.shardOf(user.id).name === server) return user;
  }
}
const phoneOn = (server: string) => phones.get(server) as Phone;
async function claim(server: string, token: string): Promise<number> {
  const options = { bearer: phoneOn(server).session, body: { type: 'ios', token } };
  return (await app.api('POST', '/v1/devices/tokens', options)).status;
}
/** The servers whose device has the token. */
async function holders(token: string): Promise<string[]> {
  const names: string[] = [];
  for (const { name, everyone } of app.database.shards) {
    const rows = await everyone.query(testSql('select from devices where apn_device_token = $1', [token]));
    names.push(...rows.map(() => name));
  }
  return names;
}
const isUnfinished = (line: string) => line.includes('the login stays approved');
const openClaims = () => app.database.shards[0]?.everyone.query(testSql('select claim from push_token_claims'));
const holdersWhenComplete = (token: string) =>
  eventually(
    'the claims to be complete',
    async () => {
      for (const { everyone } of app.database.shards) {
        await everyone.query(testSql('update graphile_worker._private_jobs set run_at = now() where run_at > now()'));
      }
      return (await openClaims())?.length === 0 ? holders(token) : undefined;
    },
    20_000,
  );

test('a token belongs to the device that claimed it last, on any server', async () => {
  const token = hexToken();
  for (const server of ['east', 'west', 'main', 'east']) {
    expect(await claim(server, token)).toBe(201);
    expect(await holdersWhenComplete(token)).toEqual([server]);
    expect(await claim(server, token)).toBe(200);
  }
});

test('a token that a login sends leaves the device of another server', async () => {
  const token = hexToken();
  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  await signIn(app, await createUserOn('west'), { apn_device_token: token });
  expect(await holdersWhenComplete(token)).toEqual(['west']);
});

test('if several devices claim a token at the same time, exactly one of them has it in the end', async () => {
  const token = hexToken();
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([...phones.keys()].map((server) => claim(server, token)));
    expect(await holdersWhenComplete(token)).toHaveLength(1);
  }
});

/** Delays a statement until `end` is called, each time that it is sent. */
function delay(name: string): { readonly reached: Promise<void>; readonly end: () => void } {
  const { query: send } = pg.Client.prototype;
  let end: () => void = () => undefined;
  const delayed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, ...args: unknown[]) {
        const [query] = args as [{ readonly name?: string }];
        if (query.name !== name) return Reflect.apply(send, this, args);
        resolve();
        return void delayed.then(() => Reflect.apply(send, this, args));
      },
    });
  });
  onTestFinished(() => {
    Object.assign(pg.Client.prototype, { query: send });
    end();
  });
  return { reached, end };
}

test('if the directory goes down before a login has claimed its token, a job claims it later', async () => {
  const token = hexToken();
  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  const user = await createUserOn('west');
  const claiming = delay('push_claims_lock');
  const login = signIn(app, user, { apn_device_token: token });
  // The new session needs the directory too.
  login.catch(() => undefined);
  await claiming.reached;
  await shards.stop('main');
  try {
    claiming.end();
    await eventually('the failure of the claim', async () => app.logged.find(isUnfinished));
    const { everyone } = app.database.shardOf(phoneOn('east').userId);
    expect(await everyone.query(testSql('select from devices where apn_device_token = $1', [token]))).toHaveLength(1);
  } finally {
    await shards.start('main');
  }
  await eventually(
    'the repetition of the claim',
    async () => (JSON.stringify(await holdersWhenComplete(token)) === '["west"]' ? true : undefined),
    20_000,
  );
});

test('a claim that is repeated replaces earlier claims only, and takes no token that the device has lost', async () => {
  const token = hexToken();
  const { userId, deviceId } = phoneOn('west');
  const repeated = { user_id: userId, device_id: deviceId, claim: orderedId(), apn: token, gcm: null, endpoint: null };
  const store = 'update devices set apn_device_token = $1 where id = $2';
  await app.database.shardOf(userId).everyone.query(testSql(store, [token, deviceId]));
  const setOther = (claim: string) =>
    app.database.shards[0]?.everyone.query(
      testSql(
        `insert into push_token_claims (digest, claim) values ($1, $2)
         on conflict (digest) do update set claim = excluded.claim`,
        [sha256(`apn ${token}`), claim],
      ),
    );
  // Not another `orderedId`: two of the same millisecond have no order.
  const later = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
  await setOther(later);
  await repeatClaim(app.database, repeated);
  expect(await openClaims()).toEqual([{ claim: later }]);
  await setOther(nilId);
  await repeatClaim(app.database, repeated);
  expect(await holdersWhenComplete(token)).toEqual(['west']);

  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  await repeatClaim(app.database, repeated);
  expect(await openClaims()).toEqual([]);
  expect(await holders(token)).toEqual(['east']);
});

test('a claim and the job of an earlier one do not block each other on two servers', async () => {
  const token = hexToken();
  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  const user = await createUserOn('east');
  const { session } = await signIn(app, user);
  const removal = delay('push_claims_remove');
  expect(await claim('west', token)).toBe(201);
  await removal.reached;
  const later = app.api('POST', '/v1/devices/tokens', { bearer: session.token, body: { type: 'ios', token } });
  const waiting = testSql(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
  );
  await expect.poll(() => app.database.shards[0]?.everyone.query(waiting)).toHaveLength(1);
  removal.end();
  expect((await later).status).toBe(201);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
});

test('a claim does not take the token from a later one', async () => {
  const token = hexToken();
  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  const { userId, deviceId } = phoneOn('west');
  const late = { apn: token, gcm: null, endpoint: null, user_id: userId, device_id: deviceId, claim: userId };
  await completeClaim(app.database, late);
  expect(await holders(token)).toEqual(['east']);
});

test('a device of a server that is down loses the token when the server is back', async () => {
  const token = hexToken();
  await claim('east', token);
  expect(await holdersWhenComplete(token)).toEqual(['east']);
  await shards.stop('east');
  try {
    expect(await claim('west', token)).toBe(201);
    expect(await openClaims()).toHaveLength(1);
  } finally {
    await shards.start('east');
  }
  expect(await holdersWhenComplete(token)).toEqual(['west']);
});
