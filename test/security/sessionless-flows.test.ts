import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { holdClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { createRedirectSteps, type Jar, newVerifier, publicUrl, returnTo } from '../support/redirects.js';
import { isThorough } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, messageOf } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';

/**
 * Runs two flows without a session on the same identity. What the first leaves behind must not let the second show
 * whether an account has the identity. A pair of flows runs the same steps for each kind of identity. The test
 * compares everything that an attacker sees: status, body, headers, limits, locks, and messages to the attacker.
 */

interface Identity {
  readonly type: 'phone' | 'email' | 'username';
  readonly value: string;
}

interface Ask {
  readonly path: string;
  readonly body: object;
}

interface Flow {
  readonly name: string;
  /** The request that sends a code; absent for flows of one request. */
  readonly begin?: (identity: Identity) => Ask | Promise<Ask>;
  /** A wrong secret. */
  readonly guess: (identity: Identity, id: string) => Ask;
}

const codeLogin = (authenticator: 'sms' | 'email'): Flow => ({
  name: `login by ${authenticator}`,
  begin: (identity) => ({
    path: '/v1/tokens',
    // The mail also has a link.
    body: { identity, authenticator, device: {}, ...(authenticator === 'email' && { link_to: returnTo }) },
  }),
  guess: (_, id) => ({ path: `/v1/tokens/${id}/secret`, body: { secret: 'abcdef', pin: '1357' } }),
});
const registration = (made: object): Omit<Flow, 'name'> => ({
  begin: (identity) => ({ path: '/v1/registrations', body: { identity } }),
  guess: (_, id) => ({ path: `/v1/registrations/${id}`, body: { secret: 'abcdef', ...made } }),
});
const recovery = (purpose: 'password' | 'pin', made: object): Flow => ({
  name: `recovery of the ${purpose}`,
  begin: (identity) => ({ path: '/v1/recoveries', body: { identity, purpose } }),
  guess: (_, id) => ({ path: `/v1/recoveries/${id}`, body: { secret: 'abcdef', ...made } }),
});
const logins: readonly Flow[] = [
  {
    name: 'login by password',
    guess: (identity) => ({
      path: '/v1/tokens',
      body: { identity, authenticator: 'password', secret: 'not the password', device: {} },
    }),
  },
  codeLogin('sms'),
  codeLogin('email'),
];
const flows: readonly Flow[] = [
  ...logins,
  recovery('password', { password: 'nine dull horses' }),
  recovery('pin', { pin: '8642' }),
  {
    ...codeLogin('sms'),
    name: 'sign-up with a code',
    begin: (identity) => ({
      path: '/v1/tokens',
      body: { identity, authenticator: identity.type === 'phone' ? 'sms' : 'email', device: {}, sign_up: true },
    }),
  },
  { name: 'registration', ...registration({}) },
  { name: 'registration with a passkey', ...registration({ passkey: 'begin' }) },
];

/** A login with a new account at a provider that does not run the mailbox of its address. */
const providerSignUp: Flow = {
  name: 'sign-up through a provider',
  begin: ({ value }) => goThroughProvider(value),
  guess: (_, id) => ({ path: `/v1/tokens/${id}/secret`, body: { secret: 'abcdef' } }),
};

/** The limits that a flow can leave behind for the next one. Each has its own service, see below. */
const limits = ['lock', 'permanent lock', 'requests', 'codes', 'messages to a prefix', 'messages'] as const;
type Limit = (typeof limits)[number];

/**
 * Except in a thorough run, these limits meet half of their pairs. Each flow but the sign-up through a provider is still the first
 * or the second one with each limit, and with the limits of messages together. All pairs remain with the lock, where each flow meets itself.
 */
const halves: Partial<Record<Limit, (index: number) => boolean>> = {
  'permanent lock': (index) => index % 2 === 0,
  requests: (index) => index % 4 < 2,
  codes: (index) => [0, 1, 2, 6, 7, 9, 12].includes(index),
  'messages to a prefix': (index) => index % 2 === 0,
  messages: (index) => index % 2 === 1,
};

/**
 * The pairs of flows that are tested with a limit. In a thorough run, these are all pairs over all limits, in one order or in both, and each
 * limit meets each flow as the first and as the second one. Otherwise, most limits meet half of these pairs. Limits of messages count
 * by phone number. The others meet phone numbers and mail addresses in turn.
 */
function pairsWith(limit: Limit) {
  const shift = limits.indexOf(limit);
  const pair = (type: Identity['type'], some: readonly Flow[], index: number) => {
    const [first, second] = [some[index], some[(index + shift) % some.length]];
    if (first === undefined || second === undefined) throw new Error('there is no such flow');
    return [`${first.name}, then ${second.name}, by ${type}`, { type, first, second }] as const;
  };
  const isMail = (index: number) => !limit.startsWith('messages') && (index + shift) % 2 === 1;
  const isChosen = isThorough ? undefined : halves[limit];
  const pairs = [
    ...flows.map((_, index) => pair(isMail(index) ? 'email' : 'phone', flows, index)),
    ...logins.map((_, index) => pair('username', logins, index)),
    ...(limit.startsWith('messages') ? [] : pairsWithProvider(shift)),
  ];
  return pairs.filter((_, index) => isChosen === undefined || isChosen(index));
}

/** Providers know mail addresses only. Over the four limits that count these, the sign-up meets each flow in a thorough run, first or second. */
function pairsWithProvider(shift: number) {
  return [providerSignUp, ...flows]
    .filter((_, index) => index % 4 === shift)
    .map((other, index) => {
      const [first, second] = (index + shift) % 2 === 0 ? [providerSignUp, other] : [other, providerSignUp];
      return [`${first.name}, then ${second.name}, by email`, { type: 'email', first, second }] as const;
    });
}

/** `bare` is a user without a password and a PIN. `unproven`: nobody has proven the addresses of the user. */
const kinds = ['unknown', 'known', 'deactivated', 'bare', 'unproven'] as const;
type Kind = (typeof kinds)[number];

/** Six digits of a country and a network that no other identity of the test uses. */
const newPrefix = () => `+1${randomInt(20_000, 100_000)}`;
const numberIn = (prefix: string) => `${prefix}${randomInt(10_000, 100_000)}`;

let postern: TestApp;
let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.close());
/** What the database's clock shows, in milliseconds. It stands still, so that no limit is refilled while requests take long. */
let time = 0;

function startWith(env: Record<string, string>): void {
  beforeAll(async () => {
    postern = await startTestApp({
      ...{ TRUST_PROXY: '127.0.0.1', REGISTRATION: 'on', LOG_LEVEL: 'silent', CODE_LIMIT_PER_ADDRESS: '0' },
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '2', GUESS_LOCK: '30m', LOGIN_LINK: 'on' },
      ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
      OIDC_PROVIDERS: JSON.stringify({ house: { issuer: vendor.url, client_id: 'ours', sign_up: true } }),
      ...env,
    });
    time = Date.now();
    await holdClock(postern.database, time);
  });
  afterAll(() => postern.close());
}

/** After a minute, limits per minute are reset, while locks and codes still exist. */
async function passAMinute(): Promise<void> {
  time += 61_000;
  await holdClock(postern.database, time);
}

/** An identity of a kind. */
async function newIdentity(type: Identity['type'], kind: Kind, prefix = newPrefix()): Promise<Identity> {
  const username = `user${randomInt(1e12)}`;
  const identities = { phone: numberIn(prefix), email: `${username}@example.com`, username };
  if (kind !== 'unknown') {
    const secrets = kind === 'bare' ? { password: undefined } : { pin: '2468' };
    const flags = kind === 'unproven' ? { email_verified: false, phone_verified: false } : {};
    const { id } = await createUser(postern, { ...identities, ...secrets, ...flags });
    const body = { status: 'deactivated' };
    if (kind === 'deactivated') await postern.api('PATCH', `/admin/v1/users/${id}`, { bearer: postern.adminKey, body });
  }
  return { type, value: identities[type] };
}

/** An attacker that uses another network each time, so that limits by address do not apply. */
const fromAnywhere = () => ({ 'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` });
async function ask({ path, body }: Ask): Promise<ApiAnswer<Record<string, unknown>>> {
  return postern.api('POST', path, { body, headers: fromAnywhere() });
}

const { open } = createRedirectSteps(() => ({ postern, vendor }));
/** The vendor has one account at a time. */
let lastAccount: Promise<unknown> = Promise.resolve();

/** Logs in at the provider with a new account that has the address. @returns the request that ends the redirect */
function goThroughProvider(email: string): Promise<Ask> {
  const next = lastAccount.then(async () => {
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    const { codeVerifier, codeChallenge } = newVerifier();
    const { body } = await ask({
      path: '/v1/tokens',
      body: { authenticator: 'oidc:house', redirect_to: returnTo, code_challenge: codeChallenge, device: {} },
    });
    const jar: Jar = new Map();
    const headers = fromAnywhere();
    const { url } = body.challenge as { url: string };
    const { to, answer } = await vendor.authorize((await open(url, jar, { headers })).to);
    const back = await open(`${publicUrl}${to.pathname}?${answer}`, jar, { headers });
    const code = new URL(back.to).searchParams.get('code');
    return {
      path: `/v1/tokens/${body.id}/secret`,
      body: { secret: JSON.stringify({ code, code_verifier: codeVerifier }) },
    };
  });
  lastAccount = next.catch(() => undefined);
  return next;
}

/** Everything visible in a response, except values that are new each time. Waits are rounded to minutes. */
function shapeOf({ status, headers, body }: ApiAnswer<Record<string, unknown>>) {
  // Users have different addresses, so only whether there is a destination is compared.
  const fresh = new Set([
    'id',
    'device_id',
    'request_id',
    'created_at',
    'updated_at',
    'expires_at',
    'resend_at',
    'destination',
  ]);
  const shape = JSON.parse(JSON.stringify(body, (key, value) => (fresh.has(key) ? typeof value : value))) as object;
  const { date: _, 'request-id': __, 'retry-after': wait, ...others } = headers;
  return { status, shape, others, wait: wait === undefined ? undefined : Math.round(Number(wait) / 60) };
}

/** One identity of the test, and what was visible of it. */
function createTrial(identity: Identity) {
  const seen: unknown[] = [];
  const started = new Map<Flow, string>();
  return {
    seen,
    async begin(flow: Flow): Promise<void> {
      if (flow.begin === undefined) return;
      const begun = await flow.begin(identity);
      const answer = await ask(begun);
      seen.push([`${flow.name} starts`, shapeOf(answer)]);
      if (answer.status !== 201) return;
      const id = String(answer.body.id);
      started.set(flow, id);
      if (begun.path !== '/v1/tokens') return;
      await emptyQueue();
      seen.push(await settledStatus(id));
    },
    async guess(flow: Flow): Promise<void> {
      const answer = await ask(flow.guess(identity, started.get(flow) ?? randomUUID()));
      seen.push([`${flow.name} is guessed at`, shapeOf(answer)]);
    },
  };
}

let queueIsEmpty: Promise<unknown> | undefined;

/** Waits until all messages are taken up. All trials of a step share the statements, which take less time than requests for each status. */
function emptyQueue(): Promise<unknown> {
  queueIsEmpty ??= eventually('an empty queue', async () => {
    const jobs = await postern.database.query(
      testSql('select 1 from graphile_worker._private_jobs where run_at <= now() limit 1'),
    );
    return jobs.length === 0 ? true : undefined;
  }).finally(() => {
    queueIsEmpty = undefined;
  });
  return queueIsEmpty;
}

/** The public status of a login once the queue has taken its message. */
const settledStatus = (id: string) =>
  eventually(`the message of ${id} to be taken up`, async () => {
    const { body } = await postern.api('GET', `/v1/tokens/${id}`);
    return body.status === 'created' ? undefined : body.status;
  });

type Step = { readonly does: 'begin' | 'guess'; readonly flow: Flow } | 'a minute passes';

/** Runs the same steps for every kind of identity in parallel, and compares what was visible. */
async function expectAlike(type: Identity['type'], steps: readonly Step[]): Promise<void> {
  const trials = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...createTrial(await newIdentity(type, kind)) })),
  );
  for (const step of steps) {
    if (step === 'a minute passes') await passAMinute();
    else await Promise.all(trials.map((trial) => trial[step.does](step.flow)));
  }
  const [unknown, ...others] = trials;
  for (const { kind, seen } of others) expect({ kind, seen }).toEqual({ kind, seen: unknown?.seen });
}

const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

describe.each([
  ['for a time', {}, 'lock'],
  ['permanently', { GUESS_LIMIT_PERMANENT: '2' }, 'permanent lock'],
] as const)('where wrong secrets lock %s', (_, env, limit) => {
  startWith(env);

  test.each(pairsWith(limit))('%s', async (_, { type, first, second }) => {
    await expectAlike(type, [
      { does: 'begin', flow: first },
      'a minute passes',
      { does: 'begin', flow: second },
      ...times(3, { does: 'guess', flow: first }),
      // The same flow is locked already.
      ...times(first === second ? 1 : 3, { does: 'guess', flow: second }),
    ]);
  });
});

describe('with a limit of requests to an account', () => {
  startWith({ LOGIN_LIMIT_PER_ADDRESS: '4', GUESS_LIMIT: '1000' });

  test.each(pairsWith('requests'))('%s', async (_, { type, first, second }) => {
    await expectAlike(type, [
      { does: 'begin', flow: first },
      'a minute passes',
      ...times(5, { does: 'guess', flow: first }),
      { does: 'begin', flow: second },
      { does: 'guess', flow: second },
    ]);
  });
});

describe('with a limit of codes to an identity', () => {
  startWith({});

  test.each(pairsWith('codes'))('%s', async (_, { type, first, second }) => {
    const begins = ({ flow }: { readonly flow: Flow }): Step => ({ does: 'begin', flow });
    const both = [begins({ flow: first }), begins({ flow: second })];
    const apart: Step[] = both.flatMap((step) => [step, 'a minute passes'] as const);
    await expectAlike(type, [...both, 'a minute passes', ...apart, ...apart, ...apart]);
  });
});

describe.each([
  ['SMS_LIMIT_PER_PREFIX', 'messages to a prefix'],
  ['SMS_LIMIT_TOTAL', 'messages'],
] as const)('with a limit of messages by %s', (setting, limit) => {
  const most = 3;
  startWith({ [setting]: String(most) });
  /** How many messages reach the attacker's own numbers after an identity was tried. */
  async function countReceived(own: readonly string[]): Promise<number> {
    const states = [];
    for (const phone of own) {
      const { body } = await ask({
        path: '/v1/tokens',
        body: { identity: { type: 'phone', value: phone }, authenticator: 'sms', device: {} },
      });
      states.push((await messageOf(postern, String(body.id), ['sent', 'dropped'])).state);
    }
    return states.filter((state) => state === 'sent').length;
  }

  test.each(pairsWith(limit))('%s', async (_, { type, first, second }) => {
    const counts = new Map<Kind, number>();
    const prefix = newPrefix();
    // The attacker's own numbers have the prefix of the identities that are tried.
    const own = Array.from({ length: most }, (_, place) => `${prefix}0000${place}`);
    await Promise.all(own.map((phone) => createUser(postern, { phone, password: undefined })));
    for (const kind of kinds) {
      // All kinds share the prefix and the attacker's numbers.
      for (const table of ['request_limits', 'message_limits'])
        await postern.database.query(testSql(`delete from ${table}`));
      const trial = createTrial(await newIdentity(type, kind, prefix));
      await trial.begin(first);
      await passAMinute();
      await trial.begin(second);
      counts.set(kind, await countReceived(own));
    }
    expect(counts.get('unknown')).toBeGreaterThan(0);
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(kinds.map((kind) => [kind, counts.get('unknown')])));
  });
});
