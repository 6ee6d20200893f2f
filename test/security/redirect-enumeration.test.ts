import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { createRedirectSteps, type LoginBody, publicUrl, returnTo } from '../support/redirects.js';
import { testSql } from '../support/sql.js';
import { type ComparedApp, startComparedApp } from '../support/timing.js';
import { createUser, newEmail } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';

/**
 * Somebody who registers any address at a provider must not learn whether a user has it: the same answers, rows, limits and
 * work until our code has come back from its mailbox.
 */

let vendor: Vendor;
let postern: ComparedApp;
beforeAll(async () => {
  vendor = await startVendor();
  postern = await startComparedApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
    ...{ PIN_POLICY: 'off', MAIL_PROVIDER: 'console' },
    OIDC_PROVIDERS: JSON.stringify({
      open: { issuer: vendor.url, client_id: 'ours', client_secret: 'a secret', sign_up: true },
      closed: { issuer: `${vendor.url}/closed`, client_id: 'ours', client_secret: 'a secret' },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { begin, end, send, goThrough } = createRedirectSteps(() => ({ postern, vendor }));

/** The addresses that must look alike. */
async function addresses() {
  const [known, deactivated, unproven] = [newEmail(), newEmail(), newEmail()];
  await createUser(postern, { email: known });
  await createUser(postern, { email: unproven, email_verified: false });
  const { id } = await createUser(postern, { email: deactivated });
  await postern.api('PATCH', `/admin/v1/users/${id}`, {
    ...{ bearer: postern.adminKey, body: { status: 'deactivated' } },
  });
  return { known, deactivated, unproven, unknown: newEmail() };
}

/** A login that waits for what its browser brought back. */
async function returned(email: string, provider = 'open') {
  vendor.account = {
    ...{ sub: randomUUID(), email, email_verified: true },
    ...(provider === 'closed' && { iss: `${vendor.url}/closed` }),
  };
  const login = await begin(`oidc:${provider}`);
  const { app } = await goThrough(login.url);
  return { id: login.body.id, code: app.get('code') ?? '', verifier: login.codeVerifier };
}
const answer = async (email: string, provider?: string) => {
  const { id, code, verifier } = await returned(email, provider);
  return end(id, code, verifier);
};

/** What two answers must have in common: everything except new values and the masked address. */
function shapeOf({ status, headers, body }: Awaited<ReturnType<typeof answer>>) {
  const fresh = new Set(['id', 'device_id', 'request_id', 'created_at', 'updated_at', 'expires_at', 'resend_at']);
  const shape: unknown = JSON.parse(
    JSON.stringify(body, (key, value) => (fresh.has(key) || key === 'destination' ? typeof value : value)),
  );
  const { date: _, 'request-id': __, 'retry-after': wait, ...others } = headers;
  return { status, shape, others, waits: wait !== undefined };
}

/** The rows of everything that a login may write. */
async function rows() {
  const tables = ['authentications', 'challenges', 'outbox', 'message_limits', 'guess_budgets', 'events', 'users'];
  const counts: Record<string, unknown> = {};
  for (const table of [...tables, 'identities', 'external_identities']) {
    const [row] = await postern.database.query<{ count: number }>(
      testSql(`select count(*)::int as count from ${table}`),
    );
    counts[table] = row?.count;
  }
  const types = 'select type, count(*)::int as count from events group by type order by type';
  for (const { type, count } of await postern.database.query<{ type: string; count: number }>(testSql(types))) {
    counts[`event ${type}`] = count;
  }
  return counts as Record<string, number>;
}

/** The number of new rows by table and type of event, after all mails are sent. */
async function newRows(work: () => Promise<unknown>) {
  const before = await rows();
  await work();
  await eventually('all mails to be sent', async () => {
    const unsent = "select 1 from outbox where state in ('queued', 'sending')";
    return (await postern.database.query(testSql(unsent))).length === 0 ? true : undefined;
  });
  const added = Object.entries(await rows()).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, count]) => count > 0));
}

describe('known, deactivated, unproven and unknown addresses', () => {
  test('get the same answers and rows, also for wrong codes and at the limit', async () => {
    const seen = [];
    for (const email of Object.values(await addresses())) {
      const answers: ReturnType<typeof shapeOf>[] = [];
      let body: LoginBody | undefined;
      const made = await newRows(async () => {
        const asked = await answer(email);
        body = asked.body;
        answers.push(shapeOf(asked));
      });
      expect(body?.challenge?.type).toBe('code');
      const ofGuesses = await newRows(async () => {
        for (let guess = 0; guess < 6; guess += 1) answers.push(shapeOf(await send(body?.id ?? '', 'abcdef')));
      });
      // Another account at the provider with the same address: the limit of the address holds.
      answers.push(shapeOf(await answer(email)), shapeOf(await answer(email)), shapeOf(await answer(email)));
      seen.push({ made, ofGuesses, answers });
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
  });

  test('take the same work for the code that is sent, and for a wrong one', async () => {
    const all = await addresses();
    const of = (act: (email: string) => Promise<unknown>) =>
      Object.fromEntries(Object.entries(all).map(([kind, email]) => [kind, () => act(email)]));
    const clear = () => postern.database.query(testSql('delete from message_limits'));
    await postern.expectAlike(
      of(async (email) => {
        await clear();
        expect((await answer(email)).status).toBe(201);
      }),
      [],
    );
    const open: Record<string, string> = {};
    for (const email of Object.values(all)) {
      await clear();
      open[email] = (await answer(email)).body.id;
    }
    await postern.expectAlike(
      of(async (email) => {
        await postern.database.query(testSql('update authentications set guesses = 0'));
        await postern.database.query(testSql('update challenges set guesses = 0'));
        expect((await send(open[email] ?? '', 'abcdef')).status).toBe(400);
      }),
      [],
    );
  });

  test('look alike at a provider that may not sign up', async () => {
    const seen = [];
    for (const email of Object.values(await addresses())) {
      let shape: unknown;
      const made = await newRows(async () => {
        shape = shapeOf(await answer(email, 'closed'));
      });
      seen.push({ made, shape });
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
  });
});
