// Each change of the account, while other calls and tabs ask for sessions before its answer arrives.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createFactors, originOf } from '../../../../test/support/factors.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../../../test/support/openid-provider.js';
import { signInWithRole } from '../../../../test/support/operators.js';
import { type CreationOptions, makePasskey } from '../../../../test/support/software-authenticator.js';
import { askForLogin } from '../../../../test/support/support-logins.js';
import { newEmail, newPhone, password } from '../../../../test/support/users.js';
import {
  type AccountClient,
  createAccount,
  memoryStorage,
  type Postern,
  passwordProof,
  totpProof,
} from '../../src/index.js';
import { clientOf, signedIn } from '../support.js';

let app: TestApp;
let attic: OpenIdProvider;
beforeAll(async () => {
  attic = await startOpenIdProvider(['shop']);
  app = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'optional', SUPPORT_CONSENT: 'on' },
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    OIDC_PROVIDERS: JSON.stringify({ attic: { issuer: attic.url, client_ids: ['shop'] } }),
  });
});
afterAll(async () => {
  await app?.close();
  await attic?.close();
});
const { appOf } = createFactors(() => app);
const proof = passwordProof(password);

type Change = (account: AccountClient<false>, user: { readonly id: string }) => Promise<unknown>;
const changes: Record<string, Change> = {
  profile: async (account, { id }) => {
    await account.update({ name: 'Ada' });
    await account.setUsername(`new-${id}`, { proof });
  },
  password: (account) => account.setPassword('a completely different passphrase', { proof }),
  PIN: async (account) => {
    await account.setPin('2468', { proof });
    await account.removePin({ proof });
    // There is none, and the answer says so.
    await account.cancelPinRecovery().catch(() => undefined);
  },
  'mail address': async (account) => {
    const email = newEmail();
    await (await account.setEmail(email, { proof })).confirm(await codeTo(app, email));
    await account.removeEmail({ proof });
  },
  phone: async (account) => {
    const phone = newPhone();
    await (await account.setPhone(phone, { proof })).confirm(await codeTo(app, phone));
    await account.removePhone({ proof });
  },
  'authenticator app': async (account, { id }) => {
    const pending = await account.enrolTotp({ proof });
    const { recovery_codes: codes } = await pending.confirm(await appOf(id, pending.secret).code());
    const { recovery_codes: renewed } = await account.renewRecoveryCodes({ proof: totpProof(codes[0] ?? '') });
    await account.removeTotp({ proof: totpProof(renewed[0] ?? '') });
  },
  passkeys: async (account) => {
    const { id } = await account.addPasskey('Laptop', { proof });
    await account.renamePasskey(id, 'Old laptop');
    await account.removePasskey(id, { proof });
  },
  provider: async (account, { id }) => {
    const pending = await account.linkIdentity('attic', { proof });
    const linked = await pending.confirm(await attic.login(id, pending.nonce));
    await account.unlinkIdentity(linked, { proof });
  },
  'other logins': (account) => account.logOutEverywhere(),
  'support logins': async (account, { id }) => {
    const asked = await askForLogin(app, await signInWithRole(app, 'operator'), id);
    await account.allowSupportLogin(asked.body.id);
    await account.endSupportLogin(asked.body.id);
  },
};
/** They change nothing, end this login on purpose, or leave the page and end on the next one. */
const others = [
  ...['get', 'listPasskeys', 'listIdentities', 'activity', 'export', 'proofChoices', 'deleteAccount'],
  ...['linkProvider', 'resumeLink', 'resumeProof', 'supportLogins'],
];

test('each change is tried here', async () => {
  const { postern } = await signedIn(app);
  const tried = Object.values(changes).join();
  const missing = Object.keys(createAccount(postern)).filter((name) => !tried.includes(`account.${name}(`));
  expect(missing.toSorted()).toEqual(others.toSorted());
  postern.close();
});

test.each(Object.keys(changes))(
  'a change of: %s lets other calls and tabs go on, and signs nobody out',
  async (name) => {
    const storage = memoryStorage();
    const passkeys = {
      create: async (options: object) => makePasskey(options as CreationOptions, originOf(app)).response,
      get: () => Promise.reject(new Error('not used')),
    };
    const tabs: Postern[] = [];
    const asked: Promise<unknown>[] = [];
    /** For each change: whether its answer replaced the token, and whether the others wait for it. */
    const seen: { readonly replaces: boolean; readonly waits: boolean }[] = [];
    const { postern, user } = await signedIn(app, {
      ...{ storage, passkeys },
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (!init?.method || !`${input}`.includes('/v1/account') || !answer.ok) return answer;
        // The service has made the change, and the client does not know it yet.
        const text = await answer.clone().text();
        const replaces = text !== '' && 'token' in JSON.parse(text);
        seen.push({ replaces, waits: (await storage.get('postern.replacing')) !== null });
        const sessions = Promise.all(tabs.map((tab) => tab.getSession({ fresh: true })));
        asked.push(sessions);
        if (!replaces) await sessions.catch(() => undefined);
        return answer;
      },
    });
    tabs.push(postern, clientOf(app, { storage }));
    const states = tabs.map((tab) => {
      const own: string[] = [];
      tab.onChange(({ status }) => own.push(status));
      return own;
    });
    await Promise.all(tabs.map((tab) => tab.getSession()));
    await changes[name]?.(createAccount(postern), user);
    expect(asked.length).toBeGreaterThan(0);
    for (const sessions of await Promise.all(asked)) {
      expect(sessions).toEqual(tabs.map(() => expect.objectContaining({ user_id: user.id })));
    }
    for (const { replaces, waits } of seen) expect(waits).toBe(replaces);
    expect(seen.some(({ replaces }) => replaces)).toBe(name === 'password');
    // The other tab has shown its first state only.
    expect(states.flat().filter((status) => status !== 'signed_in')).toEqual([]);
    for (const tab of tabs) tab.close();
  },
);
