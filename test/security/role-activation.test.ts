import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../src/contract/account/account.js';
import type { NewTotp } from '../../src/contract/account/factors.js';
import type { EnrollmentLink, User } from '../../src/contract/user.js';
import { byPassword, type Person } from '../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { type AuthenticatorApp, createFactors } from '../support/factors.js';
import { signInWithRole } from '../support/operators.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { ask, person, signInAgain, appOf, enrolTotp, enrolPasskey, startWithPassword, answer } = createFactors(
  () => postern,
);

const inactive = [403, 'role_not_active'];
const rejected = [400, 'enrollment_link_rejected'];

const byAdmin = <Body>(method: string, path: string, body?: object) =>
  postern.api<Body>(method, `/admin/v1/users/${path}`, { bearer: postern.adminKey, ...(body && { body }) });
const linkFor = async ({ user }: Person) =>
  (await byAdmin<EnrollmentLink>('POST', `${user.id}/enrollment-links`)).body.secret;
const isActive = async ({ user }: Person) => (await byAdmin<User>('GET', user.id)).body.role_active;
const withRole = (role: User['role'] = 'operator') => person({ role });

/** The status and the error code of a response. */
const refusalOf = async (answering: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await answering;
  return status < 300 ? [status] : [status, (body as ProblemAnswer).errors[0]?.code];
};

/** Enrols an app through a link. */
async function enrolBy(who: Person, link: string, proof: object = byPassword) {
  const started = await ask<NewTotp & ProblemAnswer>(who, 'POST', '/totp', { proof, enrollment_secret: link });
  if (started.status !== 201) return { refusal: [started.status, started.body.errors[0]?.code] };
  const app = appOf(who.user.id, started.body.secret);
  const confirm = async () => {
    const confirmed = await ask(who, 'POST', `/totp/${started.body.id}`, { secret: await app.code() });
    await app.rewind();
    return confirmed;
  };
  return { app, confirm };
}

/** Logs in by password and app. @returns how the admin API answers the new session */
async function adminApiAnswer(who: Person, app: AuthenticatorApp) {
  await app.rewind();
  const { body } = await startWithPassword(who);
  const { body: approved } = await answer(body.id, await app.code());
  const session = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: approved.token ?? '' });
  await app.rewind();
  return refusalOf(postern.api('GET', '/admin/v1/users', { bearer: session.body.token }));
}

describe('a role', () => {
  test('is not activated by a second factor that was enrolled without a link', async () => {
    const thief = await withRole();
    const { app } = await enrolTotp(thief);
    expect(await adminApiAnswer(thief, app)).toEqual(inactive);
    expect(await refusalOf(postern.api('GET', '/admin/v1/users', { bearer: thief.bearer }))).toEqual(inactive);
    const { body } = await ask<Account>(thief, 'GET', '');
    expect([body.role, body.role_active, await isActive(thief)]).toEqual(['operator', false, false]);
  });

  test('is activated once when an app is enrolled through a link', async () => {
    const who = await withRole();
    const link = await linkFor(who);
    const { app, confirm } = await enrolBy(who, link);
    expect(await isActive(who)).toBe(false);
    expect((await confirm?.())?.status).toBe(200);
    expect(await isActive(who)).toBe(true);
    expect((await ask<Account>(who, 'GET', '')).body.role_active).toBe(true);
    if (app === undefined) throw new Error('nothing was enrolled');
    expect(await adminApiAnswer(who, app)).toEqual([200]);
    // The enrolling session has used one factor only, so it must log in again.
    expect(await refusalOf(postern.api('GET', '/admin/v1/users', { bearer: who.bearer }))).toEqual([
      ...[403, 'second_factor_required'],
    ]);
    const proof = { type: 'totp', secret: await app.code() };
    expect((await enrolBy(who, link, proof)).refusal).toEqual(rejected);
  });

  test('is activated when a passkey is enrolled through a link', async () => {
    const who = await withRole('support');
    const link = await linkFor(who);
    expect((await enrolPasskey(who, { enrollment_secret: link })).status).toBe(201);
    expect(await isActive(who)).toBe(true);
    // From now on a password alone is no valid proof, even if the policy does not require a passkey.
    expect((await startWithPassword(who)).body.challenge?.type).toBe('passkey');
  });

  test('of a user with a second factor is activated by that factor, and not by the password', async () => {
    const who = await withRole();
    const { app } = await enrolTotp(who);
    const link = await linkFor(who);
    const activate = (proof: object, secret = link) =>
      refusalOf(ask(who, 'POST', '/role', { enrollment_secret: secret, proof }));
    expect(await activate(byPassword)).toEqual([422, 'invalid_choice']);
    expect(await activate({ type: 'totp', secret: '000000' })).toEqual([400, 'proof_rejected']);
    expect(await activate({ type: 'totp', secret: await app.code() }, `${link}x`)).toEqual(rejected);
    expect(await isActive(who)).toBe(false);
    expect(await activate({ type: 'totp', secret: await app.code() })).toEqual([200]);
    expect(await adminApiAnswer(who, app)).toEqual([200]);
    expect(await activate({ type: 'totp', secret: await app.code() })).toEqual(rejected);
  });

  test('is not activated without a second factor, and the response says what to do', async () => {
    const who = await withRole();
    const link = await linkFor(who);
    const proof = { type: 'totp', secret: '123456' };
    expect(await refusalOf(ask(who, 'POST', '/role', { enrollment_secret: link, proof }))).toEqual(inactive);
    const { body } = await postern.api<{ detail: string }>('GET', '/admin/v1/users', { bearer: who.bearer });
    expect(body.detail).toContain("an operator's link");
  });

  test('is not activated by a factor that is removed in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const who = await withRole();
      const { app } = await enrolTotp(who);
      const activation = {
        enrollment_secret: await linkFor(who),
        proof: { type: 'totp', secret: await app.code() },
      };
      await Promise.all([ask(who, 'POST', '/role', activation), byAdmin('DELETE', `${who.user.id}/second-factors`)]);
      expect(await isActive(who)).toBe(false);
    }
  });

  test('is deactivated with the last second factor, and then needs another link', async () => {
    const who = await withRole();
    const { app, confirm } = await enrolBy(who, await linkFor(who));
    await confirm?.();
    const { status } = await byAdmin('DELETE', `${who.user.id}/second-factors`);
    expect([status, await isActive(who)]).toEqual([200, false]);
    const { app: next } = await enrolTotp(who);
    expect(await adminApiAnswer(who, next)).toEqual(inactive);
    const proof = { type: 'totp', secret: await next.code() };
    const activation = { enrollment_secret: await linkFor(who), proof };
    expect((await ask(who, 'POST', '/role', activation)).status).toBe(200);
    await next.rewind();
    const removal = { proof: { type: 'totp', secret: await next.code() } };
    expect((await ask(who, 'DELETE', '/totp', removal)).status).toBe(204);
    expect([await isActive(who), app === undefined]).toEqual([false, false]);
  });

  test('is deactivated when the user gets a higher role, and stays active when the user gets a lower one', async () => {
    const who = await withRole('support');
    const { confirm } = await enrolBy(who, await linkFor(who));
    await confirm?.();
    const setRole = async (role: User['role']) =>
      (await byAdmin<User>('PATCH', who.user.id, { role })).body.role_active;
    expect(await setRole('support')).toBe(true);
    const link = await linkFor(who);
    expect(await setRole('operator')).toBe(false);
    // The link was made for the former role.
    expect((await enrolBy(who, link)).refusal).toEqual(rejected);
    await postern.database.query(testSql('update users set role_active_since = db_now() where id = $1', [who.user.id]));
    expect(await setRole('support')).toBe(true);
    expect(await setRole('user')).toBe(false);
    expect(await setRole('support')).toBe(false);
  });
});

describe('a link', () => {
  test('is a page of the console with a secret in its fragment, and only a digest is stored', async () => {
    const who = await withRole();
    const elsewhere = await postern.another({ PUBLIC_URL: 'https://auth.example.com/sub/' });
    const path = `/admin/v1/users/${who.user.id}/enrollment-links`;
    const { status, body, headers } = await elsewhere.api<EnrollmentLink>('POST', path, { bearer: postern.adminKey });
    await elsewhere.close();
    expect(status).toBe(201);
    expect(body.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.url).toBe(`https://auth.example.com/sub/console/setup#${body.secret}`);
    expect(body.secret).toMatch(/^psl_[\w-]{43}$/);
    expect(headers['cache-control']).toContain('no-store');
    const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000;
    expect(Math.round(minutes)).toBe(30);
    const rows = await postern.database.query<{ text: string }>(
      testSql(
        `select u::text as text from users u where id = $1
           union all select e::text from events e where user_id = $1`,
        [who.user.id],
      ),
    );
    const seen = [...rows.map(({ text }) => text), ...elsewhere.logged].join('\n');
    expect(seen).toContain('role.link_made');
    expect(seen).not.toContain(body.secret);
    expect(seen).not.toContain(body.secret.slice(4));
  });

  test('is replaced by the next one, expires, and works for one account', async () => {
    const [who, other] = [await withRole(), await withRole()];
    const first = await linkFor(who);
    const second = await linkFor(who);
    expect((await enrolBy(who, first)).refusal).toEqual(rejected);
    expect((await enrolBy(other, second)).refusal).toEqual(rejected);
    const { confirm } = await enrolBy(who, second);
    await postern.database.query(
      testSql('update users set role_link_expires_at = db_now() where id = $1', [who.user.id]),
    );
    expect((await enrolBy(who, second)).refusal).toEqual(rejected);
    // Started in time and completed too late: nothing was enrolled.
    expect(await refusalOf(confirm?.() ?? Promise.reject())).toEqual(rejected);
    expect((await ask<Account>(who, 'GET', '')).body.second_factors).toEqual([]);
  });

  test('activates once, for the first completed enrolment', async () => {
    const who = await withRole();
    const link = await linkFor(who);
    const sessions = await Promise.all(Array.from({ length: 5 }, () => signInAgain(who.user)));
    const started = await Promise.all(sessions.map((session) => enrolBy(session, link)));
    const ends = await Promise.all(started.map(({ confirm }) => confirm?.()));
    expect(ends.filter((end) => end?.status === 200)).toHaveLength(1);
    const { body } = await byAdmin<{ type: string }[]>('GET', `${who.user.id}/activity?filter=type:role.activated`);
    expect(body).toHaveLength(1);
  });

  test('does not help an attacker with the password who completes an enrolment first', async () => {
    const who = await withRole();
    const thief = await signInAgain(who.user);
    const { confirm } = await enrolBy(who, await linkFor(who));
    await enrolTotp(thief);
    expect((await refusalOf(confirm?.() ?? Promise.reject()))[0]).toBe(400);
    expect(await isActive(who)).toBe(false);
  });

  test('needs the scope admin and a user with a role', async () => {
    const user = await person();
    expect(await refusalOf(byAdmin('POST', `${user.user.id}/enrollment-links`))).toEqual([422, 'no_role']);
    const unknown = '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11';
    expect(await refusalOf(byAdmin('POST', `${unknown}/enrollment-links`))).toEqual([404, 'not_found']);
    const support = await signInWithRole(postern, 'support');
    const path = `/admin/v1/users/${support.user.id}/enrollment-links`;
    expect(await support.codeOf('POST', path)).toEqual([403, 'insufficient_scope']);
    const operator = await signInWithRole(postern, 'operator');
    expect(await operator.codeOf('POST', path)).toEqual([201, undefined]);
  });
});
