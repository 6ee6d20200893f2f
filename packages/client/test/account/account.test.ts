import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeTo } from '../../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createFactors, originOf } from '../../../../test/support/factors.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../../../test/support/openid-provider.js';
import {
  type CreationOptions,
  makePasskey,
  type SoftwareAuthenticator,
} from '../../../../test/support/software-authenticator.js';
import { newEmail, newPhone, password } from '../../../../test/support/users.js';
import {
  createAccount,
  createLogin,
  isProblem,
  memoryStorage,
  type PasskeyAdapter,
  type ProofRequest,
  type Prover,
  passwordProof,
  pinProof,
  totpProof,
} from '../../src/index.js';
import { clientOf, createNetwork, lost, signedIn } from '../support.js';

let app: TestApp;
let attic: OpenIdProvider;
beforeAll(async () => {
  attic = await startOpenIdProvider(['shop']);
  app = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'optional' },
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    OIDC_PROVIDERS: JSON.stringify({ attic: { issuer: attic.url, client_ids: ['shop'] } }),
  });
});
afterAll(async () => {
  await app?.close();
  await attic?.close();
});

const { appOf } = createFactors(() => app);

/** A dialog that answers with the password, and records what it was asked. */
function passwordDialog(...answers: string[]) {
  const asked: ProofRequest[] = [];
  const prove: Prover = async (request) => {
    asked.push(request);
    return passwordProof(answers.shift() ?? password);
  };
  return { asked, prove };
}

/** The passkeys of a device, without a browser. */
function softwarePasskeys(): PasskeyAdapter {
  let made: SoftwareAuthenticator | undefined;
  return {
    async create(options) {
      const { authenticator, response } = makePasskey(options as CreationOptions, originOf(app));
      made = authenticator;
      return response;
    },
    async get(options) {
      if (made === undefined) throw new Error('There is no passkey.');
      return JSON.parse(made.sign(options));
    },
  };
}

describe('a dialog for proofs', () => {
  test('is shown for each change, with the proofs that the operation accepts and the user has', async () => {
    const { postern } = await signedIn(app, {}, { email: newEmail() });
    const { asked, prove } = passwordDialog();
    const account = createAccount(postern, { prove });
    expect(await account.setUsername('grace')).toMatchObject({ username: 'grace' });
    expect(await account.setPin('1357')).toMatchObject({ has_pin: true });
    await account.removePin();
    const shown = asked.map(({ operation, choices, problem }) => [operation, choices.map(({ type }) => type), problem]);
    expect(shown).toEqual([
      ['set_username', ['password', 'code'], null],
      ['set_pin', ['password', 'code'], null],
      ['remove_pin', ['password', 'pin'], null],
    ]);
    expect((await account.get()).username).toBe('grace');
  });

  test('is shown again while the proof is wrong', async () => {
    const { postern } = await signedIn(app);
    const { asked, prove } = passwordDialog('not this one', 'nor this one');
    await createAccount(postern, { prove }).setPin('2468');
    expect(asked.map(({ problem }) => problem?.code)).toEqual([undefined, 'proof_rejected', 'proof_rejected']);
  });

  test('gets the error of the lock after too many wrong proofs, and can cancel the change', async () => {
    const { postern } = await signedIn(app);
    const account = createAccount(postern, {
      prove: async ({ problem }) => (problem?.code === 'account_temporarily_locked' ? null : passwordProof('wrong')),
    });
    await expect(account.setPin('2468')).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await postern.getSession()).not.toBeNull();
  });

  test('is not shown again after an error of the change itself', async () => {
    const { postern } = await signedIn(app);
    const { asked, prove } = passwordDialog();
    const refused = await createAccount(postern, { prove })
      .setPin('1')
      .catch((error: unknown) => error);
    expect(isProblem(refused, 'validation_failed') && refused.field('pin')).toBeTruthy();
    expect(asked).toHaveLength(1);
  });

  test('that the app passes to one operation is used instead of the dialog of the account', async () => {
    const { postern } = await signedIn(app);
    const { asked, prove } = passwordDialog();
    await createAccount(postern, { prove: () => lost() }).setPin('2468', { proof: prove });
    expect(asked).toHaveLength(1);
  });

  test('that another user closes by a login changes nothing of either user', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const { user: other } = await signedIn(app);
    const account = createAccount(postern, {
      async prove() {
        await createLogin(postern)
          .start()
          .password({ identity: other.username ?? '', password });
        return passwordProof(password);
      },
    });
    await expect(account.deleteAccount()).rejects.toMatchObject({ kind: 'signed_out' });
    expect(network.count('DELETE /v1/account')).toBe(0);
  });

  test('that answers after the signal aborted changes nothing', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const controller = new AbortController();
    const account = createAccount(postern, {
      async prove() {
        controller.abort(new Error('The page was left.'));
        return passwordProof(password);
      },
    });
    await expect(account.setPin('2468', { signal: controller.signal })).rejects.toThrow('The page was left.');
    expect(network.count('PUT /v1/account/pin')).toBe(0);
  });
});

describe('a proof', () => {
  test('shows no secret in logs', () => {
    expect(JSON.stringify([passwordProof('secret-1'), totpProof('secret-2'), pinProof('secret-3')])).not.toContain(
      'secret',
    );
  });

  test('that was not created by the package is refused before anything is sent', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const account = createAccount(postern);
    const sent = network.sent.length;
    await expect(account.setPin('2468', { proof: { type: 'password', secret: password } as never })).rejects.toThrow(
      /must be made by passwordProof/,
    );
    await expect(account.setPin('2468', {} as never)).rejects.toThrow(/must be made by passwordProof/);
    expect(network.sent).toHaveLength(sent);
  });

  test('by a code: the code goes to the address of the account', async () => {
    const phone = newPhone();
    const { postern } = await signedIn(app, {}, { phone });
    const account = createAccount(postern);
    const choice = (await account.proofChoices('set_email')).find(({ type }) => type === 'code');
    if (choice?.type !== 'code') throw new Error('no code');
    expect(choice).toMatchObject({ channel: 'sms', to: expect.stringContaining('…') });
    const sent = await choice.send();
    expect(sent.resendAt.getTime()).toBeLessThan(sent.expiresAt.getTime());
    const email = newEmail();
    const pending = await account.setEmail(email, { proof: sent.prove(await codeTo(app, phone)) });
    expect(await pending.confirm(await codeTo(app, email))).toMatchObject({ email });
    expect(await account.removePhone({ proof: passwordProof(password) })).toMatchObject({ phone: null });
  });

  test('is never a code if the operation accepts no code', async () => {
    const { postern } = await signedIn(app, {}, { phone: newPhone() });
    const account = createAccount(postern);
    const typesFor = async (operation: 'remove_totp' | 'remove_pin' | 'set_phone') =>
      (await account.proofChoices(operation)).map(({ type }) => type);
    expect(await typesFor('remove_totp')).toEqual(['password']);
    expect(await typesFor('remove_pin')).toEqual(['password']);
    expect(await typesFor('set_phone')).toEqual(['password', 'code']);
  });
});

test('a password change ends the other logins, and this one continues with its new token', async () => {
  const storage = memoryStorage();
  const { postern, user } = await signedIn(app, { storage });
  const other = clientOf(app);
  await createLogin(other)
    .start()
    .password({ identity: user.username ?? '', password });
  await other.getSession();
  const changed = await createAccount(postern).setPassword('the moon and back again', {
    proof: passwordProof(password),
  });
  expect(changed).toMatchObject({ id: user.id });
  expect(changed).not.toHaveProperty('token');
  expect(await other.getSession({ fresh: true })).toBeNull();
  expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
  expect(await clientOf(app, { storage }).getSession()).toMatchObject({ user_id: user.id });
});

test('the current password is the proof of a new one, and goes beside a code where the account has an app', async () => {
  const { postern, user } = await signedIn(app);
  const noProof = () => Promise.reject(new Error('asked for a proof'));
  const asking = createAccount(postern, { prove: noProof });
  const wrong = { code: 'proof_rejected', errors: [{ code: 'password_wrong' }] };
  const [next, last] = ['the moon and back again', 'and once around the sun'];
  await expect(asking.setPassword(next, { currentPassword: 'not it' })).rejects.toMatchObject(wrong);
  await asking.setPassword(next, { currentPassword: password });
  const pending = await createAccount(postern).enrolTotp({ proof: passwordProof(next) });
  const totp = appOf(user.id, pending.secret);
  await pending.confirm(await totp.code());
  await totp.rewind();
  let asked = 0;
  const proving = createAccount(postern, {
    async prove({ choices }) {
      asked += 1;
      return choices[0]?.type === 'totp' ? choices[0].prove(await totp.code()) : null;
    },
  });
  await expect(proving.setPassword(last, { currentPassword: password })).rejects.toMatchObject(wrong);
  await proving.setPassword(last, { currentPassword: next });
  expect(asked).toBe(2);
});

test('an authenticator app is enrolled, then every proof includes it, then it is removed', async () => {
  const { postern, user } = await signedIn(app);
  const account = createAccount(postern);
  const pending = await account.enrolTotp({ proof: passwordProof(password) });
  expect(pending.uri).toContain(pending.secret);
  const totp = appOf(user.id, pending.secret);
  const { recovery_codes } = await pending.confirm(await totp.code());
  expect((await account.proofChoices('set_username')).map(({ type }) => type)).toEqual(['totp']);
  const renewed = await account.renewRecoveryCodes({ proof: totpProof(recovery_codes[0] ?? '') });
  expect(renewed.recovery_codes).toHaveLength(recovery_codes.length);
  await account.removeTotp({ proof: totpProof(renewed.recovery_codes[0] ?? '') });
  expect((await account.get()).second_factors).toEqual([]);
});

test('a passkey is added, proves a change, logs in, is renamed and removed', async () => {
  const passkeys = softwarePasskeys();
  const { postern, user } = await signedIn(app, { passkeys });
  const account = createAccount(postern);
  const added = await account.addPasskey('Laptop', { proof: passwordProof(password) });
  const prove: Prover<'set_username'> = async ({ choices }) => {
    const choice = choices.find(({ type }) => type === 'passkey');
    return choice?.type === 'passkey' ? choice.prove() : null;
  };
  expect(await account.setUsername(`new-${user.username}`, { proof: prove })).toMatchObject({ id: user.id });
  const again = clientOf(app, { passkeys });
  expect(await createLogin(again).start().passkey()).toMatchObject({ step: 'done', user_id: user.id });
  await account.renamePasskey(added.id, 'Old laptop');
  expect(await account.listPasskeys()).toMatchObject([{ id: added.id, name: 'Old laptop' }]);
  await account.removePasskey(added.id, { proof: passwordProof(password) });
  expect(await account.listPasskeys()).toEqual([]);
});

test('the other logins end, and this one too if all are to end', async () => {
  const { postern, user } = await signedIn(app);
  const other = clientOf(app);
  await createLogin(other)
    .start()
    .password({ identity: user.username ?? '', password });
  const account = createAccount(postern);
  expect(await account.logOutEverywhere()).toEqual({ ended: 1 });
  await expect(createAccount(other).get()).rejects.toMatchObject({ kind: 'signed_out' });
  expect(await account.get()).toMatchObject({ id: user.id });
  expect(await account.logOutEverywhere({ all: true })).toEqual({ ended: 1 });
  expect(postern.current.status).toBe('signed_out');
});

test('the name and the language need no proof; the activity and the export show the account', async () => {
  const { postern, user } = await signedIn(app, { locale: 'es' });
  const account = createAccount(postern);
  expect(await account.update({ name: 'Ada', locale: 'es' })).toMatchObject({ name: 'Ada', locale: 'es' });
  await account.setPin('2468', { proof: passwordProof(password) });
  const types: string[] = [];
  for await (const { type } of account.activity({ limit: 1 })) types.push(type);
  expect(types).toEqual(expect.arrayContaining(['user.pin_changed', 'login.approved']));
  const file = JSON.parse(await new Response(await account.export()).text());
  expect(JSON.stringify(file)).toContain(user.id);
});

test('an account at a provider is linked and logs in, until it is unlinked', async () => {
  const { postern, user } = await signedIn(app);
  const account = createAccount(postern);
  const proof = passwordProof(password);
  const pending = await account.linkIdentity('attic', { proof });
  expect(pending).toMatchObject({ issuer: attic.url, client_ids: ['shop'] });
  const linked = await pending.confirm(await attic.login('ada', pending.nonce));
  expect(linked).toMatchObject({ provider: 'attic', subject: 'ada' });
  expect(await account.listIdentities()).toEqual([linked]);

  const logIn = async () => {
    const state = await createLogin(clientOf(app)).start().oidc('attic');
    return state.step === 'oidc' ? state.submit({ idToken: await attic.login('ada', state.nonce) }) : state;
  };
  expect(await logIn()).toMatchObject({ step: 'done', user_id: user.id });

  const wrong = account.unlinkIdentity(linked, { proof: passwordProof('not this one') });
  await expect(wrong).rejects.toMatchObject({ kind: 'problem', code: 'proof_rejected' });
  await account.unlinkIdentity(linked, { proof });
  expect(await account.listIdentities()).toEqual([]);
  expect(await logIn()).toMatchObject({ step: 'oidc', issue: { kind: 'wrong' } });
});

test('an id_token for another nonce links nothing', async () => {
  const account = createAccount((await signedIn(app)).postern);
  const pending = await account.linkIdentity('attic', { proof: passwordProof(password) });
  const linked = await pending.confirm(await attic.login('grace', 'another')).catch((error: unknown) => error);
  expect(isProblem(linked)).toBe(true);
  expect(await account.listIdentities()).toEqual([]);
});

test('a provider that is not configured, and an identity that is not linked, are problems', async () => {
  const { postern } = await signedIn(app);
  const account = createAccount(postern);
  const proof = passwordProof(password);
  expect(await account.listIdentities()).toEqual([]);
  const linked = await account.linkIdentity('nobody', { proof }).catch((error: unknown) => error);
  expect(isProblem(linked, 'not_found')).toBe(true);
});

test('a deleted account signs the client out', async () => {
  const storage = memoryStorage();
  const { postern } = await signedIn(app, { storage });
  await createAccount(postern).deleteAccount({ proof: passwordProof(password) });
  expect(postern.current).toMatchObject({ status: 'signed_out' });
  expect(await storage.get('postern.login')).toBeNull();
});

test('without a network a change rejects, and the login stays', async () => {
  const network = createNetwork();
  const { postern } = await signedIn(app, { fetch: network.fetch });
  await postern.getSession();
  network.answer = lost;
  await expect(createAccount(postern).setPin('2468', { proof: passwordProof(password) })).rejects.toMatchObject({
    kind: 'network',
  });
  expect(postern.current.status).toBe('signed_in');
});
