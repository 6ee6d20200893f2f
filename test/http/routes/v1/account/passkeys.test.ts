import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewPasskey, Passkey } from '../../../../../src/contract/account/factors.js';
import type { Event } from '../../../../../src/contract/administration.js';
import { idToBytes } from '../../../../../src/lib/ids.js';
import { byPassword, type Person } from '../../../../support/account.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { createFactors, originOf } from '../../../../support/factors.js';
import {
  type Claims,
  type CreationOptions,
  makePasskey,
  type SoftwareAuthenticator,
} from '../../../../support/software-authenticator.js';
import { testSql } from '../../../../support/sql.js';
import { createUser } from '../../../../support/users.js';

const androidOrigin = `android:apk-key-hash:${randomBytes(32).toString('base64url')}`;
let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ GUESS_LIMIT: '5', LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, ask, signInAgain, enrolPasskey, enrolTotp, startWithPasskey, startWithPassword, answer } =
  createFactors(() => postern);
type Options = Parameters<SoftwareAuthenticator['sign']>[0];
const optionsOf = ({ body }: { body: { challenge?: object } }) => body.challenge as Options;

/** Logs in with a passkey that makes these claims. */
async function loginWith(authenticator: SoftwareAuthenticator, claims: Claims = {}) {
  const begun = await startWithPasskey();
  return answer(begun.body.id, authenticator.sign(optionsOf(begun), claims));
}
const eventsOf = async ({ user }: Person, type: string) => {
  const path = `/admin/v1/users/${user.id}/activity?filter=type:eq:${type}`;
  return (await postern.api<Event[]>('GET', path, { bearer: postern.adminKey })).body;
};

describe('enrolling a passkey', () => {
  test('returns creation options, and then lists the passkey', async () => {
    const who = await person({ name: 'Ada' });
    type Started = NewPasskey & { readonly options: CreationOptions };
    const { status, body } = await ask<Started>(who, 'POST', '/passkeys', { proof: byPassword, name: 'Phone' });
    expect(status).toBe(201);
    expect(body.options).toMatchObject({
      rp: { id: 'localhost', name: 'Postern' },
      user: {
        id: idToBytes(who.user.id).toString('base64url'),
        name: who.user.username,
        displayName: 'Ada',
      },
      challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      attestation: 'none',
      excludeCredentials: [],
    });
    const { response } = makePasskey(body.options, originOf(postern));
    const enrolled = await ask<Passkey>(who, 'POST', `/passkeys/${body.id}`, { response });
    expect(enrolled.status).toBe(201);
    expect(enrolled.body).toEqual({
      ...{ id: expect.any(String), name: 'Phone', transports: ['hybrid', 'internal'], backed_up: false },
      ...{ created_at: expect.any(String), last_used_at: null },
    });
    expect((await ask(who, 'GET', '/passkeys')).body).toEqual([enrolled.body]);
    expect((await ask(who, 'POST', `/passkeys/${body.id}`, { response })).status).toBe(400);
    const next = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: byPassword });
    expect(next.body.options.excludeCredentials).toMatchObject([{ id: response.id, type: 'public-key' }]);
    expect(await eventsOf(who, 'passkey.enrolled')).toHaveLength(1);
  });

  const refused: Record<string, Claims> = {
    'for another challenge': { challenge: randomBytes(32).toString('base64url') },
    'as if it were a login': { type: 'webauthn.get' },
    'on another origin': { origin: 'https://evil.example' },
    'in a frame': { crossOrigin: true },
    'for another relying party': { rpId: 'evil.example' },
    'without user presence': { userPresent: false },
  };
  test.each(Object.entries(refused))('is refused %s', async (_, claims) => {
    const who = await person();
    const { status } = await enrolPasskey(who, claims);
    expect(status).toBe(400);
    expect((await ask(who, 'GET', '/passkeys')).body).toEqual([]);
  });

  // An android-key statement holds its own trust anchor, and URLs that a verifier would fetch.
  test.each(['android-key', 'packed', 'tpm'])('ignores an attestation of the format %s', async (format) => {
    const who = await person();
    const { status, authenticator } = await enrolPasskey(who, { format });
    expect(status).toBe(201);
    expect((await loginWith(authenticator)).body.status).toBe('approved');
  });

  /** An answer of a browser with its binary members in another encoding. */
  const reencoded = (value: unknown, encode: (text: string) => string): unknown =>
    Object.fromEntries(
      Object.entries(value as object).map(([name, member]) => [
        name,
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? reencoded(member, encode)
          : typeof member === 'string' && name !== 'type'
            ? encode(member)
            : member,
      ]),
    );
  /** Keys and signatures are random. Makes them until these members contain both characters that differ between the encodings. */
  function untilDiffers<Made>(make: () => Made, membersOf: (made: Made) => readonly string[]): Made {
    for (;;) {
      const made = make();
      if (membersOf(made).every((text) => text.includes('-') && text.includes('_'))) return made;
    }
  }
  test.each([
    ['standard base64', (text: string) => Buffer.from(text, 'base64url').toString('base64')],
    [
      'standard base64 without padding',
      (text: string) => Buffer.from(text, 'base64url').toString('base64').replace(/=+$/, ''),
    ],
    ['base64url with padding', (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=')],
  ])('and logins with it accept answers in %s', async (_encoding, encode) => {
    const who = await person();
    const { body } = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: byPassword, name: 'Key' });
    const { authenticator, response } = untilDiffers(
      () => makePasskey(body.options as unknown as CreationOptions, originOf(postern)),
      (made) => [made.response.id, made.response.response.attestationObject],
    );
    const enrolled = await ask(who, 'POST', `/passkeys/${body.id}`, { response: reencoded(response, encode) });
    expect(enrolled.status).toBe(201);
    const begun = await startWithPasskey();
    const assertion = untilDiffers(
      () => JSON.parse(authenticator.sign(optionsOf(begun))) as { response: { signature: string } },
      ({ response: { signature } }) => [signature],
    );
    const approved = await answer(begun.body.id, JSON.stringify(reencoded(assertion, encode)));
    expect([approved.status, approved.body.status]).toEqual([201, 'approved']);
  });

  test.each(['not base64!', 'A', '=AAA', 'AA=A'])('is refused if a binary member is %j', async (text) => {
    const who = await person();
    const { body } = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: byPassword, name: 'Key' });
    const { response } = makePasskey(body.options as unknown as CreationOptions, originOf(postern));
    const enrolled = await ask(who, 'POST', `/passkeys/${body.id}`, { response: reencoded(response, () => text) });
    expect(enrolled.status).toBe(400);
    expect((await ask<Passkey[]>(who, 'GET', '/passkeys')).body).toEqual([]);
  });

  test('is refused for anything but a browser’s response', async () => {
    const who = await person();
    const { body } = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: byPassword });
    const { response } = makePasskey(body.options as unknown as CreationOptions, originOf(postern));
    const broken = [{}, { response: {} }, { ...response, id: 1 }, { ...response, response: null }];
    for (const one of broken) {
      const { body: next } = await ask<NewPasskey>(who, 'POST', '/passkeys', { proof: byPassword });
      expect((await ask(who, 'POST', `/passkeys/${next.id}`, { response: one })).status).toBe(400);
    }
    expect((await ask(who, 'POST', `/passkeys/${body.id}`, {})).status).toBe(422);
    expect((await ask(await signInAgain(who.user), 'POST', `/passkeys/${body.id}`, { response })).status).toBe(400);
    expect((await ask(await person(), 'POST', `/passkeys/${body.id}`, { response })).status).toBe(400);
    expect((await ask(who, 'POST', `/passkeys/${body.id}`, { response })).status).toBe(201);
  });

  test('is limited to twenty for each user', async () => {
    const who = await person();
    await enrolPasskey(who);
    await postern.database.query(
      testSql(
        `insert into passkeys select user_id, gen_random_uuid(), n::text::bytea, public_key, 0, '{}', '', false, created_at
           from passkeys, generate_series(2, 20) n where user_id = $1`,
        [who.user.id],
      ),
    );
    expect((await ask(who, 'POST', '/passkeys', { proof: byPassword })).status).toBe(422);
  });
});

describe('a user’s own passkeys', () => {
  test('can be renamed, and removed with a proof, only by their owner', async () => {
    const who = await person();
    const stranger = await person();
    const { passkey, authenticator } = await enrolPasskey(who);
    const path = `/passkeys/${passkey.id}`;
    expect((await ask(stranger, 'PATCH', path, { name: 'Mine' })).status).toBe(404);
    expect((await ask(stranger, 'DELETE', path, { proof: byPassword })).status).toBe(404);
    expect((await ask<Passkey>(who, 'PATCH', path, { name: 'Laptop' })).body.name).toBe('Laptop');
    expect((await ask(who, 'PATCH', path, { name: '' })).status).toBe(422);
    expect((await ask(who, 'DELETE', path, {})).status).toBe(422);
    expect((await ask(who, 'DELETE', path, { proof: byPassword })).status).toBe(204);
    expect((await loginWith(authenticator)).status).toBe(400);
    expect(await eventsOf(who, 'passkey.removed')).toHaveLength(1);
  });

  test('are valid proofs once, with user verification', async () => {
    const who = await person();
    const { authenticator, passkey } = await enrolPasskey(who);
    const prove = async (claims: Claims = {}) => {
      const { status, body } = await ask<{ id: string; challenge: Options }>(who, 'POST', '/proofs', {
        type: 'passkey',
      });
      expect(status).toBe(201);
      return { type: 'passkey', id: body.id, secret: authenticator.sign(body.challenge, claims) };
    };
    const path = '/recovery-codes';
    expect((await ask(who, 'POST', path, { proof: await prove({ userVerified: false }) })).status).toBe(400);
    const proof = await prove();
    expect((await ask(who, 'POST', path, { proof })).status).toBe(201);
    expect((await ask(who, 'POST', path, { proof })).status).toBe(400);
    expect((await ask(who, 'DELETE', `/passkeys/${passkey.id}`, { proof: await prove() })).status).toBe(204);
    expect((await ask(who, 'POST', '/proofs', { type: 'passkey' })).status).toBe(422);
  });
});

describe('a login with a passkey', () => {
  test('needs no identity and no PIN, and counts as two factors with user verification', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who);
    await enrolTotp(who);
    const begun = await startWithPasskey();
    expect([begun.status, begun.body.status]).toEqual([201, 'pending']);
    expect(begun.body.challenge).toEqual({
      ...{ type: 'passkey', challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), rpId: 'localhost' },
      ...{ timeout: 300_000, userVerification: 'preferred', allowCredentials: [] },
    });
    const { status, body } = await answer(begun.body.id, authenticator.sign(optionsOf(begun)));
    expect([status, body.status]).toEqual([201, 'approved']);
    const [event] = await eventsOf(who, 'login.approved');
    expect(event?.data).toMatchObject({ authenticator: 'passkey', second_factor: 'passkey' });
    const [passkey] = (await ask<Passkey[]>(who, 'GET', '/passkeys')).body;
    expect(passkey?.last_used_at).not.toBeNull();
  });

  test('asks for the app without user verification', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who);
    const { app } = await enrolTotp(who);
    const { status, body } = await loginWith(authenticator, { userVerified: false });
    expect([status, body.status, body.challenge?.type]).toEqual([201, 'pending', 'totp']);
    expect((await answer(body.id, await app.code())).body.status).toBe('approved');
  });

  test('without user verification cannot be completed by the same passkey without user verification', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who);
    const change = { bearer: postern.adminKey, body: { second_factor: 'required' } };
    await postern.api('PATCH', `/admin/v1/users/${who.user.id}`, change);
    const half = await loginWith(authenticator, { userVerified: false });
    expect(half.body.challenge).toMatchObject({ type: 'passkey', userVerification: 'required' });
    const unverified = authenticator.sign(optionsOf(half), { userVerified: false });
    expect((await answer(half.body.id, unverified)).status).toBe(400);
    expect((await answer(half.body.id, authenticator.sign(optionsOf(half)))).body.status).toBe('approved');
  });

  const refused: Record<string, Claims> = {
    'for another challenge': { challenge: randomBytes(32).toString('base64url') },
    'from an enrolment': { type: 'webauthn.create' },
    'on another origin': { origin: 'https://evil.example' },
    'on another port of the same host': { origin: 'http://localhost:1' },
    'in a frame': { crossOrigin: true },
    'for another relying party': { rpId: 'evil.example' },
    'without user presence': { userPresent: false },
    'with an unknown handle': { userHandle: randomBytes(16).toString('base64url') },
    'without a handle': { userHandle: null },
    'with an invalid handle': { userHandle: 'AAAA' },
    'with a changed signature': { tampered: true },
    'with an unchanged counter': { counter: 1 },
    'with a lower counter': { counter: 0 },
  };
  test.each(Object.entries(refused))(
    'is refused %s, and does not count as a guess at the owner’s account',
    async (_, claims) => {
      const who = await person();
      const { authenticator } = await enrolPasskey(who);
      for (let guess = 1; guess <= 6; guess += 1) {
        const { status, body } = await loginWith(authenticator, claims);
        expect([status, body.errors[0]?.code]).toEqual([400, 'authorization_rejected']);
      }
      expect((await loginWith(authenticator)).body.status).toBe('approved');
      expect((await startWithPassword(who)).body.status).toBe('approved');
    },
  );

  test('with another user’s handle is refused', async () => {
    const { authenticator } = await enrolPasskey(await person());
    const victim = await createUser(postern);
    const userHandle = idToBytes(victim.id).toString('base64url');
    expect((await loginWith(authenticator, { userHandle })).status).toBe(400);
  });

  test('accepts an assertion once, and only for its own challenge', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who, { counter: 0 });
    const [one, other] = [await startWithPasskey(), await startWithPasskey()];
    const assertion = authenticator.sign(optionsOf(one));
    expect((await answer(other.body.id, assertion)).status).toBe(400);
    expect((await answer(one.body.id, assertion)).status).toBe(201);
    expect((await answer(one.body.id, assertion)).status).toBe(400);
    expect((await answer((await startWithPasskey()).body.id, assertion)).status).toBe(400);
  });

  test('with a synchronized passkey, which has no counter, keeps working', async () => {
    const who = await person();
    const { authenticator, passkey } = await enrolPasskey(who, { counter: 0, backedUp: true });
    expect(passkey.backed_up).toBe(true);
    for (let use = 1; use <= 3; use += 1) expect((await loginWith(authenticator)).status).toBe(201);
  });

  test('records an event for a signature with an old counter', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who, { counter: 7 });
    expect((await loginWith(authenticator, { counter: 20 })).status).toBe(201);
    expect((await loginWith(authenticator, { counter: 20 })).status).toBe(400);
    const [event] = await eventsOf(who, 'passkey.refused');
    expect(event).toMatchObject({ address: '127.0.0.1', data: { counter: 20 } });
  });

  test('approves one of fifty parallel requests with one assertion', async () => {
    for (const counter of [0, 5]) {
      const { authenticator } = await enrolPasskey(await person(), { counter });
      const begun = await startWithPasskey();
      const assertion = authenticator.sign(optionsOf(begun));
      const answers = await Promise.all(Array.from({ length: 50 }, () => answer(begun.body.id, assertion)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });

  test('ends after five wrong answers', async () => {
    const { authenticator } = await enrolPasskey(await person());
    const begun = await startWithPasskey();
    for (let guess = 1; guess <= 5; guess += 1) expect((await answer(begun.body.id, '{}')).status).toBe(400);
    expect((await answer(begun.body.id, authenticator.sign(optionsOf(begun)))).status).toBe(400);
  });

  test('of a deactivated user is refused like any other', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who);
    const change = { bearer: postern.adminKey, body: { status: 'deactivated' } };
    await postern.api('PATCH', `/admin/v1/users/${who.user.id}`, change);
    const { status, body } = await loginWith(authenticator);
    expect([status, body.errors[0]?.code]).toEqual([400, 'authorization_rejected']);
  });
});

describe('a passkey as second factor', () => {
  test('must belong to the user of the first secret', async () => {
    const who = await person();
    const { authenticator } = await enrolPasskey(who);
    const { authenticator: strange } = await enrolPasskey(await person());
    const change = { bearer: postern.adminKey, body: { second_factor: 'required' } };
    await postern.api('PATCH', `/admin/v1/users/${who.user.id}`, change);
    const begun = await startWithPassword(who);
    expect(begun.body.challenge).toMatchObject({ type: 'passkey', rpId: 'localhost', alternatives: [] });
    const options = optionsOf(begun);
    const { userHandle } = authenticator;
    const answers = [
      strange.sign(options),
      strange.sign(options, { userHandle }),
      strange.sign(options, { userHandle: null }),
    ];
    for (const one of answers) expect((await answer(begun.body.id, one)).status).toBe(400);
    // With allowed credentials, the authenticator need not return a user handle.
    const own = authenticator.sign(options, { userHandle: null, userVerified: false });
    expect((await answer(begun.body.id, own)).body.status).toBe('approved');
  });
});

describe('a configured installation', () => {
  test('sets the domain and the origins of its passkeys, and requires user verification', async () => {
    const strict = await startTestApp({
      ...{
        PUBLIC_URL: 'https://auth.example.com',
        PASSKEY_RP_ID: 'example.com',
        PASSKEY_USER_VERIFICATION: 'required',
      },
      PASSKEY_ORIGINS: `https://app.example.com,${androidOrigin}`,
    });
    try {
      const factors = createFactors(() => strict);
      const who = await factors.person();
      const unverified = await factors.enrolPasskey(who, { origin: androidOrigin, userVerified: false });
      expect(unverified.status).toBe(400);
      const { authenticator } = await factors.enrolPasskey(who, { origin: androidOrigin });
      const attempt = async (claims: Claims) => {
        const begun = await factors.startWithPasskey();
        expect(begun.body.challenge).toMatchObject({ rpId: 'example.com', userVerification: 'required' });
        return (await factors.answer(begun.body.id, authenticator.sign(optionsOf(begun), claims))).status;
      };
      expect(await attempt({ origin: androidOrigin, userVerified: false })).toBe(400);
      expect(await attempt({ origin: 'https://auth.example.com' })).toBe(400);
      expect(await attempt({ origin: androidOrigin })).toBe(201);
      expect(await attempt({ origin: 'https://app.example.com' })).toBe(201);
    } finally {
      await strict.close();
    }
  });
});
