import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewPasskey, NewTotp } from '../../src/contract/account/factors.js';
import type { StartedProof } from '../../src/contract/account/proof.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import { byPassword, codesTo, codeTo, createSelfService, type Person } from '../support/account.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createFactors, originOf } from '../support/factors.js';
import { clientId, type Issuer, startIssuer } from '../support/issuer.js';
import { createRecoverySteps } from '../support/recovery.js';
import { createRedirectSteps, newVerifier, publicUrl, returnTo } from '../support/redirects.js';
import { isThorough, raceRounds } from '../support/rounds.js';
import { type CreationOptions, makePasskey, type SoftwareAuthenticator } from '../support/software-authenticator.js';
import { testSql } from '../support/sql.js';
import { codeOf, newEmail, newPhone, password, passwordLogin, smsLogin } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';

/**
 * The flows of two steps, with everything that may happen between the steps. A flow must not complete if the account has
 * got stronger protection since its start, or another password.
 */

let attic: Issuer;
let vendor: Vendor;
let postern: TestApp;
/** An instance with another PUBLIC_URL, which is the origin of passkeys, too. */
let redirecting: TestApp;
beforeAll(async () => {
  [attic, vendor] = await Promise.all([startIssuer(), startVendor()]);
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '50' },
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PIN_POLICY: 'optional' },
    GUESTS: 'on',
    OIDC_PROVIDERS: JSON.stringify({
      attic: { issuer: attic.url, client_ids: [clientId] },
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
    }),
  });
  redirecting = await postern.another({ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo });
});
afterAll(async () => {
  await redirecting.close();
  await postern.close();
  await Promise.all([attic.close(), vendor.close()]);
});

const { person, signInAgain, ask } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const { enrolTotp, enrolPasskey, appOf } = createFactors(() => postern);
const recoveries = createRecoverySteps(() => postern);
const { goThrough, logIn, send } = createRedirectSteps(() => ({ postern: redirecting, vendor }));
const newPassword = 'nine dull horses';
const pin = '2468';

/** A user with two sessions: one runs the flow, and the event happens in the other or without a session. */
interface Scene {
  readonly who: Person;
  readonly elsewhere: Person;
  /** Returns a new valid proof. */
  proof(): object;
  readonly passkeyId: string;
  readonly authenticator: SoftwareAuthenticator | undefined;
}

type Factor = 'none' | 'totp' | 'passkey';

async function scene(factor: Factor): Promise<Scene> {
  const who = await person({ pin, email: newEmail(), phone: newPhone() });
  const elsewhere = await signInAgain(who.user, pin);
  const passkey = factor === 'passkey' ? await enrolPasskey(who) : undefined;
  const codes = factor === 'totp' ? (await enrolTotp(who)).recoveryCodes : [];
  return {
    ...{ who, elsewhere, authenticator: passkey?.authenticator, passkeyId: passkey?.passkey.id ?? '' },
    proof: () => (factor === 'totp' ? { type: 'totp', secret: codes.pop() } : byPassword),
  };
}

/** Completes the flow with a session of the device that started it. @returns the status */
type Complete = (bearer: string) => Promise<number>;

interface Flow {
  readonly begin: (scene: Scene) => Promise<Complete>;
  /** The second factor that the account must have for this flow, or must not have. */
  readonly needs?: Factor;
  readonly unless?: Factor;
}

const account = async (bearer: string, method: string, path: string, body: object) =>
  (await postern.api(method, `/v1/account${path}`, { bearer, body })).status;

function changeOf(type: 'email' | 'phone', newAddress: () => string): Flow {
  return {
    async begin({ who, proof }) {
      const address = newAddress();
      const { body } = await ask<{ id: string }>(who, 'POST', `/${type}`, { [type]: address, proof: proof() });
      const secret = await codeTo(postern, address);
      return (bearer) => account(bearer, 'POST', `/${type}/${body.id}`, { secret });
    },
  };
}

function recoveryOf(purpose: 'password' | 'pin'): Flow {
  return {
    async begin({ who: { user } }) {
      const { path, secret } = await recoveries.begin(user, purpose);
      const secrets = { password: 'an entirely other one', pin: '1357' };
      return async () => (await recoveries.complete(path, { secret, [purpose]: secrets[purpose] })).status;
    },
  };
}

const flows: Readonly<Record<string, Flow>> = {
  'a new phone number': changeOf('phone', newPhone),
  'a new mail address': changeOf('email', newEmail),
  'an external identity': {
    async begin({ who, proof }) {
      const path = '/external-identities/attic';
      const { body } = await ask<{ id: string; challenge: { nonce: string } }>(who, 'POST', path, { proof: proof() });
      const secret = await attic.sign({ nonce: body.challenge.nonce, sub: randomUUID() });
      return (bearer) => account(bearer, 'POST', `${path}/${body.id}`, { secret });
    },
  },
  'an external identity by redirect': {
    async begin({ who, proof }) {
      const path = '/external-identities/google';
      const { codeVerifier, codeChallenge } = newVerifier();
      const request = { redirect_to: returnTo, code_challenge: codeChallenge, proof: proof() };
      const { body } = await redirecting.api<{ id: string; challenge: { url: string } }>('POST', `/v1/account${path}`, {
        ...{ bearer: who.bearer, body: request },
      });
      vendor.account = { sub: randomUUID() };
      const { app } = await goThrough(body.challenge.url);
      const secret = JSON.stringify({ code: app.get('code'), code_verifier: codeVerifier });
      return (bearer) => account(bearer, 'POST', `${path}/${body.id}`, { secret });
    },
  },
  'an authenticator app': {
    async begin({ who, proof }) {
      const { body } = await ask<NewTotp>(who, 'POST', '/totp', { proof: proof() });
      const app = appOf(who.user.id, body.secret);
      return async (bearer) => account(bearer, 'POST', `/totp/${body.id}`, { secret: await app.code() });
    },
  },
  'a passkey': {
    async begin({ who, proof }) {
      const { body } = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: proof(), name: 'Key' });
      const { response } = makePasskey(body.options as unknown as CreationOptions, originOf(postern));
      return (bearer) => account(bearer, 'POST', `/passkeys/${body.id}`, { response });
    },
  },
  'a proof by code': {
    unless: 'totp',
    async begin({ who }) {
      const seen = await codesTo(postern, who.user.phone ?? '');
      const { body } = await ask<StartedProof>(who, 'POST', '/proofs', { type: 'sms' });
      const secret = await codeTo(postern, who.user.phone ?? '', seen);
      const change = { username: `u${randomUUID().slice(0, 8)}`, proof: { type: 'code', id: body.id, secret } };
      return (bearer) => account(bearer, 'PATCH', '', change);
    },
  },
  'a proof by passkey': {
    needs: 'passkey',
    async begin({ who, authenticator }) {
      const { body } = await ask<StartedProof>(who, 'POST', '/proofs', { type: 'passkey' });
      const secret = authenticator?.sign(body.challenge as Parameters<SoftwareAuthenticator['sign']>[0]);
      const change = { username: `u${randomUUID().slice(0, 8)}`, proof: { type: 'passkey', id: body.id, secret } };
      return (bearer) => account(bearer, 'PATCH', '', change);
    },
  },
  'a proof at a provider': {
    unless: 'totp',
    async begin({ who }) {
      const subject = randomUUID();
      await admin('PUT', `/users/${who.user.id}/external-identities`, { provider: 'google', subject });
      const { codeVerifier, codeChallenge } = newVerifier();
      const { body } = await redirecting.api<StartedProof>('POST', '/v1/account/proofs', {
        bearer: who.bearer,
        body: { type: 'provider', provider: 'google', redirect_to: returnTo, code_challenge: codeChallenge },
      });
      vendor.account = { sub: subject, auth_time: Math.floor(Date.now() / 1000) };
      const { app } = await goThrough(String(body.challenge?.url));
      const secret = JSON.stringify({ code: app.get('code'), code_verifier: codeVerifier });
      const change = { username: `u${randomUUID().slice(0, 8)}`, proof: { type: 'provider', id: body.id, secret } };
      return (bearer) => account(bearer, 'PATCH', '', change);
    },
  },
  'a recovery of the password': recoveryOf('password'),
  'a recovery of the PIN': recoveryOf('pin'),
  'a login that links an account': {
    async begin({ who: { user } }) {
      // The provider runs the mailbox of this address, so the user proves the account at once.
      vendor.account = { sub: randomUUID(), email: user.email, email_verified: true, hd: 'example.com' };
      const { body } = await logIn();
      expect(body.challenge?.type).toBe('link');
      return async () => {
        const answer = await send(body.id, { authenticator: 'password', secret: password });
        return answer.body.token === undefined ? 400 : answer.status;
      };
    },
  },
  'a login by SMS': {
    async begin({ who }) {
      const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(who.user.phone) });
      const secret = await codeOf(postern, body.id);
      return async () => {
        const answer = await postern.api<Authentication>('POST', `/v1/tokens/${body.id}/secret`, {
          body: { secret, pin },
        });
        // A login that asks for a second factor is not approved.
        return answer.body.token === undefined ? 400 : answer.status;
      };
    },
  },
};

interface Happening {
  readonly act: (scene: Scene) => Promise<unknown>;
  readonly factor?: Factor;
  /** The flows that can still complete; all others must be refused. */
  readonly unaffected?: readonly string[];
  /** The password afterwards, if the session has ended and its device logs in again. */
  readonly passwordAfter?: string;
}

const all = Object.keys(flows);
const logins = ['a login by SMS', 'a login that links an account'];
const allBut = (...names: string[]) => all.filter((name) => !names.includes(name));
const change =
  (body: object) =>
  ({ who }: Scene) =>
    admin('PATCH', `/users/${who.user.id}`, body);
const post =
  (act: string, body?: object) =>
  ({ who }: Scene) =>
    admin('POST', `/users/${who.user.id}/${act}`, body);

const happenings: Readonly<Record<string, Happening>> = {
  nothing: { act: async () => undefined, unaffected: all },
  'nothing, for a user with an app': {
    act: async () => undefined,
    factor: 'totp',
    unaffected: allBut(...logins),
  },
  'nothing, for a user with a passkey': { act: async () => undefined, factor: 'passkey', unaffected: all },
  'an app enrolled in another session': { act: ({ elsewhere, proof }) => enrolTotp(elsewhere, proof()) },
  'an app that replaces the former one': {
    factor: 'totp',
    act: ({ elsewhere, proof }) => enrolTotp(elsewhere, proof()),
  },
  'a passkey enrolled in another session': {
    act: ({ elsewhere, proof }) => enrolPasskey(elsewhere, { proof: proof() }),
    unaffected: logins,
  },
  'an app enrolled in addition to a passkey': { factor: 'passkey', act: ({ elsewhere }) => enrolTotp(elsewhere) },
  'a removed app': {
    factor: 'totp',
    act: ({ elsewhere, proof }) => ask(elsewhere, 'DELETE', '/totp', { proof: proof() }),
    unaffected: logins,
  },
  'a removed passkey': {
    factor: 'passkey',
    act: ({ elsewhere, passkeyId }) => ask(elsewhere, 'DELETE', `/passkeys/${passkeyId}`, { proof: byPassword }),
    unaffected: logins,
  },
  'an app removed by an operator': {
    factor: 'totp',
    act: ({ who }) => admin('DELETE', `/users/${who.user.id}/second-factors`),
    unaffected: logins,
  },
  'a passkey that becomes a second factor': {
    factor: 'passkey',
    act: change({ second_factor: 'required' }),
  },
  'a new password by the same session': {
    act: ({ who }) => ask(who, 'PUT', '/password', { password: newPassword, proof: byPassword }),
  },
  'a new password in another session': {
    act: ({ elsewhere }) => ask(elsewhere, 'PUT', '/password', { password: newPassword, proof: byPassword }),
    passwordAfter: newPassword,
  },
  'a new password by an operator': { act: change({ password: newPassword }), passwordAfter: newPassword },
  'a recovered password': {
    async act({ who: { user } }) {
      const { path, secret } = await recoveries.begin(user, 'password');
      await recoveries.complete(path, { secret, password: newPassword });
    },
    passwordAfter: newPassword,
  },
  'a deactivation and reactivation': {
    async act(current) {
      await change({ status: 'deactivated' })(current);
      await change({ status: 'active' })(current);
    },
    passwordAfter: password,
    unaffected: ['a login that links an account'],
  },
  'an operator’s logout': {
    act: post('logout'),
    passwordAfter: password,
    // It is not yet a login of the user.
    unaffected: ['a login that links an account'],
  },
  'a lock and unlock': {
    async act(current) {
      await post('lock', { permanent: true })(current);
      await post('unlock')(current);
    },
    unaffected: all,
  },
  'a new PIN': {
    act: ({ elsewhere }) => ask(elsewhere, 'PUT', '/pin', { pin: '9876', proof: byPassword }),
    unaffected: allBut('a recovery of the password', 'a recovery of the PIN', 'a login by SMS'),
  },
  'a pending recovered PIN': {
    act: ({ who }) => recoveries.recoverPin(who.user, '9876'),
    unaffected: all,
  },
  'a guest who is merged into the account': {
    async act({ elsewhere }) {
      const body = { authenticator: 'guest', device: {} };
      const { body: guest } = await postern.api<Authentication>('POST', '/v1/tokens', { body });
      const merged = await account(elsewhere.bearer, 'PUT', '/guest', { token: guest.token ?? '' });
      expect(merged).toBe(200);
    },
    unaffected: all,
  },
  'another account that is linked in a login': {
    async act({ who: { user } }) {
      vendor.account = { sub: randomUUID(), email: user.email, email_verified: true, hd: 'example.com' };
      const { body } = await logIn();
      expect((await send(body.id, { authenticator: 'password', secret: password })).status).toBe(201);
    },
    unaffected: all,
  },
  'new recovery codes': {
    factor: 'totp',
    act: ({ elsewhere, proof }) => ask(elsewhere, 'POST', '/recovery-codes', { proof: proof() }),
    unaffected: allBut(...logins),
  },
};

/** A session of the same device, after its login was ended. */
async function sessionOf({ user, deviceId, bearer }: Person, secret: string | undefined): Promise<string> {
  if (secret === undefined) return bearer;
  const body = { ...passwordLogin(user.username, secret, { id: deviceId }), pin };
  const login = await postern.api<Authentication>('POST', '/v1/tokens', { body });
  return (await postern.api<NewSession>('POST', '/v1/sessions', { basic: login.body.token ?? '' })).body.token;
}

/** Everything that a completion can change. */
async function stateOf({ user }: Person) {
  const { body } = await admin<User>('GET', `/users/${user.id}`);
  const { updated_at: _, ...state } = body;
  const linked = await admin<object[]>('GET', `/users/${user.id}/external-identities`);
  return JSON.stringify([state, linked.body]);
}

/**
 * The challenges of all flows are ended by the same functions, and each happening calls them in one place. So each happening meets
 * every seventh flow. Exceptions are all tested: the flows that can complete although most cannot, and those that cannot although most
 * can. A flow that needs a factor meets all happenings with this factor. Each flow completes at least once, and is refused at least once.
 * A thorough run takes every third.
 */
const interval = isThorough ? 3 : 7;
const pairs = Object.entries(happenings).flatMap(([happening, { factor = 'none', unaffected = [] }], row) => {
  const possible = Object.entries(flows).filter(
    ([, { needs = factor, unless }]) => needs === factor && unless !== factor,
  );
  const completing = possible.filter(([flow]) => unaffected.includes(flow));
  const usuallyCompletes = 2 * completing.length > possible.length;
  return possible
    .map(([flow]) => flow)
    .filter(
      (flow) =>
        flows[flow]?.needs !== undefined ||
        unaffected.includes(flow) !== usuallyCompletes ||
        (row + 4 * all.indexOf(flow) + 4) % interval === 0,
    )
    .map((flow) => ({ flow, happening }));
});

describe('a started flow', () => {
  test('is tested with happenings that end it, and with some that do not', () => {
    const outcomes = (flow: string) =>
      new Set(
        pairs
          .filter((pair) => pair.flow === flow)
          .map(({ happening }) => (happenings[happening]?.unaffected ?? []).includes(flow)),
      );
    expect(all.filter((flow) => outcomes(flow).size < 2)).toEqual([]);
  });

  test.each(pairs)('$flow, then $happening', async ({ flow, happening }) => {
    const { act, factor = 'none', unaffected = [], passwordAfter } = happenings[happening] as Happening;
    const current = await scene(factor);
    const complete = await (flows[flow] as Flow).begin(current);
    await act(current);
    const bearer = await sessionOf(current.who, passwordAfter);
    const before = await stateOf(current.who);
    const status = await complete(bearer);
    if (unaffected.includes(flow)) {
      expect(status).toBeLessThan(300);
    } else {
      expect([400, 422]).toContain(status);
      expect(await stateOf(current.who)).toBe(before);
    }
  });
});

describe('a completion while a second factor is enrolled', () => {
  const eventOfFlow: Readonly<Record<string, string>> = {
    'a new phone number': 'user.changed',
    'a new mail address': 'user.changed',
    'an external identity': 'external_identity.linked',
    'a passkey': 'passkey.enrolled',
    'a proof by code': 'user.changed',
  };

  test.each(Object.keys(eventOfFlow))('of %s takes effect before the enrolment, or not at all', async (flow) => {
    for (let round = 0; round < raceRounds; round += 1) {
      const current = await scene('none');
      const complete = await (flows[flow] as Flow).begin(current);
      const { body } = await ask<NewTotp>(current.elsewhere, 'POST', '/totp', { proof: byPassword });
      const secret = await appOf(current.who.user.id, body.secret).code();
      const [enrolled, completed] = await Promise.all([
        ask(current.elsewhere, 'POST', `/totp/${body.id}`, { secret }),
        complete(current.who.bearer),
      ]);
      const types = (await eventsOf(current.who.user.id)).map(({ type }) => type);
      const [completedAt, enrolledAt] = [types.indexOf(eventOfFlow[flow] as never), types.indexOf('totp.enrolled')];
      expect(completedAt !== -1).toBe(completed < 300);
      // A passkey that was enrolled first has ended the enrolment of the app.
      expect(enrolled.status).toBe(enrolledAt === -1 ? 400 : 200);
      if (completedAt !== -1 && enrolledAt !== -1) expect(completedAt).toBeLessThan(enrolledAt);
    }
  });

  test('a proof by password that was verified before an enrolment changes nothing after the enrolment', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { who, elsewhere } = await scene('none');
      const { body } = await ask<NewTotp>(elsewhere, 'POST', '/totp', { proof: byPassword });
      const secret = await appOf(who.user.id, body.secret).code();
      const [, changed] = await Promise.all([
        ask(elsewhere, 'POST', `/totp/${body.id}`, { secret }),
        ask(who, 'PUT', '/pin', { pin: '1357', proof: byPassword }),
      ]);
      const types = (await eventsOf(who.user.id)).map(({ type }) => type);
      expect(types.includes('user.pin_changed')).toBe(changed.status === 200);
      if (changed.status === 200) {
        expect(types.indexOf('user.pin_changed')).toBeLessThan(types.indexOf('totp.enrolled'));
      }
    }
  });
});

test('a proof that starts while all other challenges end is invalid', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const { who, elsewhere } = await scene('none');
    const seen = await codesTo(postern, who.user.phone ?? '');
    const [started] = await Promise.all([
      ask<StartedProof>(who, 'POST', '/proofs', { type: 'sms' }),
      ask(elsewhere, 'PUT', '/password', { password: newPassword, proof: byPassword }),
    ]);
    expect([201, 401]).toContain(started.status);
    const open = await postern.database.query(
      testSql('select 1 from challenges where user_id = $1 and ended_at is null', [who.user.id]),
    );
    expect(open).toEqual([]);
    if (started.status !== 201) continue;
    const secret = await codeTo(postern, who.user.phone ?? '', seen);
    const bearer = await sessionOf(who, newPassword);
    const proof = { type: 'code', id: started.body.id, secret };
    expect(await account(bearer, 'PATCH', '', { username: `u${randomUUID().slice(0, 8)}`, proof })).toBe(400);
  }
});
