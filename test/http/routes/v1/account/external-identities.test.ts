import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnExternalIdentities } from '../../../../../src/account/own-external-identities.js';
import type { ActivityEntry } from '../../../../../src/contract/account/activity.js';
import type { Authentication } from '../../../../../src/contract/authentication.js';
import type { ExternalIdentity } from '../../../../../src/contract/external-identity.js';
import type { Session } from '../../../../../src/contract/session.js';
import type { Problem } from '../../../../../src/lib/problem.js';
import { byPassword, createSelfService, type Person } from '../../../../support/account.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { clientId, type Issuer, startIssuer } from '../../../../support/issuer.js';
import { raceRounds } from '../../../../support/rounds.js';
import { newEmail, password } from '../../../../support/users.js';

let attic: Issuer;
let postern: TestApp;
beforeAll(async () => {
  attic = await startIssuer();
  const provider = { issuer: attic.url, client_ids: [clientId] };
  postern = await startTestApp({
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    OIDC_PROVIDERS: JSON.stringify({ attic: provider, cellar: provider }),
  });
});
afterAll(async () => {
  await postern.close();
  await attic.close();
});

const { person, ask, refused, signInAgain } = createSelfService(() => postern);
const path = '/external-identities';
type Begun = { readonly id: string; readonly challenge: { readonly nonce: string } };
const begin = async (who: Person) => (await ask<Begun>(who, 'POST', `${path}/attic`, { proof: byPassword })).body;
const linkNow = async (who: Person, sub: string = randomUUID()) => {
  const { id, challenge } = await begin(who);
  const secret = await attic.sign({ nonce: challenge.nonce, sub });
  return ask<ExternalIdentity>(who, 'POST', `${path}/attic/${id}`, { secret });
};
const login = async (sub: string) => {
  const { api } = postern;
  const start = { authenticator: 'oidc:attic', device: {} };
  const { body } = await api<Authentication>('POST', '/v1/tokens', { body: start });
  const secret = await attic.sign({ nonce: body.challenge?.nonce, sub });
  const answer = await api<Authentication>('POST', `/v1/tokens/${body.id}/secret`, { body: { secret } });
  return answer.status === 201 ? answer.body.status : answer.status;
};
const remove = (who: Person, { id, provider }: ExternalIdentity, proof: object = byPassword) =>
  ask(who, 'DELETE', `${path}/${provider}/${id}`, { proof });

describe('linking an account at a provider', () => {
  test('needs a proof and an id_token, and then allows logins', async () => {
    const who = await person();
    const sub = randomUUID();
    expect(await login(sub)).toBe(400);
    const { status, body } = await linkNow(who, sub);
    expect([status, body.provider, body.subject]).toEqual([200, 'attic', sub]);
    expect((await ask<ExternalIdentity[]>(who, 'GET', path)).body).toEqual([body]);
    expect(await login(sub)).toBe('approved');
    expect((await remove(who, body)).status).toBe(204);
    expect(await login(sub)).toBe(400);
    const types = 'external_identity.linked;external_identity.unlinked';
    const seen = await ask<ActivityEntry[]>(who, 'GET', `/activity?filter=type:in:${types}`);
    expect(seen.body.map(({ text }) => text)).toEqual([
      'An external account was unlinked: attic.',
      'An external account was linked: attic.',
    ]);
  });

  test('notifies the user, and so does unlinking', async () => {
    const email = newEmail();
    const who = await person({ email });
    expect((await remove(who, (await linkNow(who)).body)).status).toBe(204);
    const seen = await eventually('both notices', async () => {
      const kinds = 'kind:in:email.external_identity_added;email.external_identity_removed';
      const outbox = `/admin/v1/outbox?filter=user_id:${who.user.id},${kinds}`;
      const { body } = await postern.api<{ recipient: string }[]>('GET', outbox, { bearer: postern.adminKey });
      return body.length === 2 ? body : undefined;
    });
    expect(seen.map(({ recipient }) => recipient)).toEqual([email, email]);
  });

  test('is refused without a proof and with a PIN as proof', async () => {
    const who = await person({ pin: '2468' });
    expect(await refused(who, 'POST', `${path}/attic`, {})).toEqual([422, 'proof required']);
    const wrong = { proof: { type: 'password', secret: 'wrong' } };
    expect(await refused(who, 'POST', `${path}/attic`, wrong)).toEqual([400, 'proof_rejected']);
    expect((await refused(who, 'POST', `${path}/attic`, { proof: { type: 'pin', secret: '2468' } }))[0]).toBe(422);
    expect(await refused(who, 'POST', `${path}/nobody`, { proof: byPassword })).toEqual([404, 'not_found']);
  });

  test('works once, and only for its challenge, user, device and provider', async () => {
    const who = await person();
    const { id, challenge } = await begin(who);
    const secret = await attic.sign({ nonce: challenge.nonce });
    const rejected = [400, 'external_identity_rejected'];
    const confirm = (by: Person, at: string, token: string) => refused(by, 'POST', `${path}/${at}`, { secret: token });
    expect(await confirm(await person(), `attic/${id}`, secret)).toEqual(rejected);
    expect(await confirm(await signInAgain(who.user), `attic/${id}`, secret)).toEqual(rejected);
    expect(await confirm(who, `cellar/${id}`, secret)).toEqual(rejected);
    expect(await confirm(who, `attic/${randomUUID()}`, secret)).toEqual(rejected);
    expect(await confirm(who, 'attic/rubbish', secret)).toEqual(rejected);
    expect(await confirm(who, `attic/${id}`, await attic.sign({ nonce: 'another' }))).toEqual(rejected);
    expect(await confirm(who, `attic/${(await begin(who)).id}`, secret)).toEqual(rejected);
    const body = { secret };
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask(who, 'POST', `${path}/attic/${id}`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test("does not take over another user's external account, and reports the conflict only after a valid id_token", async () => {
    const sub = randomUUID();
    await linkNow(await person(), sub);
    expect((await linkNow(await person(), sub)).status).toBe(409);
  });
});

describe('unlinking', () => {
  test('needs a proof, and works only for the owner', async () => {
    const [who, other] = [await person(), await person()];
    const { body } = await linkNow(who);
    expect((await remove(who, body, { type: 'password', secret: 'wrong' })).status).toBe(400);
    expect((await remove(other, body)).status).toBe(404);
    expect((await remove(who, { ...body, provider: 'cellar' })).status).toBe(404);
    expect((await ask<ExternalIdentity[]>(who, 'GET', path)).body).toEqual([body]);
  });

  test('leaves one way to log in, even in parallel', async () => {
    // Logins by password are off. Otherwise a user with a password could still log in.
    const identities = createOwnExternalIdentities({
      ...{ database: postern.database, proofs: postern.services.proofs, loginColumns: [], isOpenLogin: () => true },
      limits: { countLoginByAddress: async () => undefined, countLoginByAccount: async () => undefined },
      notices: { notify: async () => undefined },
      redirects: postern.services.redirects,
      providers: [
        {
          ...{ name: 'attic', authenticator: 'oidc:attic', title: 'attic', issuer: attic.url, clientIds: [] },
          hasIssuer: (issuer) => issuer === attic.url,
          ...{ signUp: false, accountOf: async () => undefined, redirect: undefined },
        },
      ],
    });
    const who = await person();
    const verified = await postern.api<Session>('POST', '/v1/sessions/verify', { bearer: who.bearer });
    const { id: sessionId, user_id: userId, device_id: deviceId } = verified.body;
    const callingSession = { userId, sessionId, deviceId, origin: { actor: 'user' } };
    const unlink = async ({ id }: ExternalIdentity) =>
      identities.remove(callingSession, 'attic', id, { type: 'password', secret: password }).then(
        () => 'gone',
        (error: Problem) => error.code,
      );
    let last = (await linkNow(who)).body;
    for (let round = 0; round < raceRounds; round += 1) {
      expect(await unlink(last)).toBe('last_way_in');
      const both = [last, (await linkNow(who)).body];
      expect((await Promise.all(both.map(unlink))).sort()).toEqual(['gone', 'last_way_in']);
      const [left, ...others] = await identities.list(userId);
      expect(others).toEqual([]);
      if (left === undefined) return expect.unreachable('there is no way in');
      last = left;
    }
  });
});
