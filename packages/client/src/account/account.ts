import { type Core, coreOf } from '../core.js';
import { type List, type ListQuery, listOf } from '../lists.js';
import type { RedirectOptions } from '../login/redirects.js';
import type { Abortable } from '../platform.js';
import { loginKey } from '../postern/login-storage.js';
import type { OidcProvider } from '../registered.js';
import { loadPart } from '../transport.js';
import type { Postern } from '../types.js';
import type {
  Account,
  AccountDetails,
  ActivityEntry,
  ChangedPassword,
  ExternalIdentity,
  LogoutResult,
  NewPasskey,
  NewTotp,
  OwnSupportLogin,
  Passkey,
  RecoveryCodes,
  StartedExternalIdentity,
} from '../wire.js';
import { type AccountOperation, type ProofFor, passwordProof } from './proof.js';
import { createProofCalls, type ProofOptions } from './proof-calls.js';
import { choicesFor, type ProofRequest, type Prover, passkeysOf } from './proofs.js';
import type { ResumedProof } from './redirects.js';

/** A change that has started. A second request completes it. */
export interface PendingChange {
  readonly id: string;
  /** By the clock of the device. */
  readonly expiresAt: Date;
}
/** A code was sent to the new address. */
export interface PendingAddress extends PendingChange {
  /** Rejects with `identity_taken` if another account has the address. */
  readonly confirm: (code: string, options?: Abortable) => Promise<Account>;
}
export interface PendingTotp extends PendingChange {
  /** For users who type it into the app. */
  readonly secret: string;
  /** To show as a QR code. */
  readonly uri: string;
  /** Takes a code of the app. Show the recovery codes to the user at once: Postern does not return them again. */
  readonly confirm: (code: string, options?: Abortable) => Promise<RecoveryCodes>;
}
/** The provider must put the nonce into the id_token. */
export interface PendingLink extends PendingChange {
  readonly issuer: string;
  readonly client_ids: readonly string[];
  readonly nonce: string;
  readonly confirm: (idToken: string, options?: Abortable) => Promise<ExternalIdentity>;
}

type ProofInput<O extends AccountOperation> = ProofFor<O> | ((request: ProofRequest<O>) => Promise<ProofFor<O> | null>);
/** If the account has a `prove` function, `proof` is optional. */
type ProofArguments<O extends AccountOperation, P extends boolean> = P extends true
  ? [options?: Abortable & { readonly proof?: ProofInput<O> | undefined }]
  : [options: Abortable & { readonly proof: ProofInput<O> }];

type LinkArguments<P extends boolean> = P extends true
  ? [options?: RedirectOptions & NonNullable<ProofArguments<'link_identity', true>[0]>]
  : [options: RedirectOptions & ProofArguments<'link_identity', false>[0]];

type RequiredProof<O extends AccountOperation> = { readonly proof: ProofInput<O> };
type PasswordOptions = Abortable &
  Partial<RequiredProof<'set_password'>> & {
    /** The present password. */
    readonly currentPassword?: string | undefined;
  };

/** The account of the user. Changes need a fresh proof. The types show which proofs an operation accepts. */
export interface AccountClient<P extends boolean = boolean> {
  readonly get: (options?: Abortable) => Promise<AccountDetails>;
  /** Fields that you can change without a proof. */
  readonly update: (
    change: { readonly name?: string | undefined; readonly locale?: string | null | undefined },
    options?: Abortable,
  ) => Promise<Account>;
  readonly setUsername: (username: string | null, ...proof: ProofArguments<'set_username', P>) => Promise<Account>;
  /**
   * Ends all other logins of the account. This one continues. An account with a password needs `currentPassword` as well, unless
   * the proof is the password. Without a second factor, `currentPassword` is the proof, and `prove` is not called. Rejects with
   * `proof_rejected` if it is wrong: then `errors` contains the code `password_wrong`.
   */
  readonly setPassword: (
    password: string,
    ...proof: P extends true ? [options?: PasswordOptions] : [options: PasswordOptions & RequiredProof<'set_password'>]
  ) => Promise<Account>;
  readonly setPin: (pin: string, ...proof: ProofArguments<'set_pin', P>) => Promise<Account>;
  readonly removePin: (...proof: ProofArguments<'remove_pin', P>) => Promise<Account>;
  /** Discards a recovered PIN that has not taken effect yet. It needs no proof. */
  readonly cancelPinRecovery: (options?: Abortable) => Promise<Account>;
  /** Sends a code to the new address. */
  readonly setEmail: (email: string, ...proof: ProofArguments<'set_email', P>) => Promise<PendingAddress>;
  readonly removeEmail: (...proof: ProofArguments<'remove_email', P>) => Promise<Account>;
  /** Sends a code to the new number. */
  readonly setPhone: (phone: string, ...proof: ProofArguments<'set_phone', P>) => Promise<PendingAddress>;
  readonly removePhone: (...proof: ProofArguments<'remove_phone', P>) => Promise<Account>;
  readonly enrolTotp: (...proof: ProofArguments<'enrol_totp', P>) => Promise<PendingTotp>;
  readonly removeTotp: (...proof: ProofArguments<'remove_totp', P>) => Promise<void>;
  /** The old recovery codes become invalid. */
  readonly renewRecoveryCodes: (...proof: ProofArguments<'renew_recovery_codes', P>) => Promise<RecoveryCodes>;
  readonly listPasskeys: (options?: Abortable) => Promise<readonly Passkey[]>;
  /** Asks for the proof first. Then the platform shows its prompt. */
  readonly addPasskey: (name: string, ...proof: ProofArguments<'add_passkey', P>) => Promise<Passkey>;
  readonly renamePasskey: (id: string, name: string, options?: Abortable) => Promise<Passkey>;
  readonly removePasskey: (id: string, ...proof: ProofArguments<'remove_passkey', P>) => Promise<void>;
  readonly listIdentities: (options?: Abortable) => Promise<readonly ExternalIdentity[]>;
  readonly linkIdentity: (provider: OidcProvider, ...proof: ProofArguments<'link_identity', P>) => Promise<PendingLink>;
  /**
   * Sends the browser to a provider and back, to link an account there. Asks for the proof first. When the page loads again, call
   * `resumeLink`. Returns the linked account only in an app whose `open` returns the address; else null.
   *
   * @param provider the name of a provider in `OIDC_PROVIDERS`, such as `google`
   */
  readonly linkProvider: (provider: OidcProvider, ...options: LinkArguments<P>) => Promise<ExternalIdentity | null>;
  /**
   * Completes a link after the browser has come back from a provider. Call it when the page loads. Null if the address contains no answer
   * for a link that this browser began. Rejects with `external_identity_taken` if another user has this account, and with a ProviderError
   * or CancelledError if there is none.
   *
   * @param address in an app: the address with which the browser came back
   */
  readonly resumeLink: (address?: string, options?: Abortable) => Promise<ExternalIdentity | null>;
  /**
   * Returns the proof after the browser has come back from a provider, and the operation that the user had begun. Call it when the page
   * loads, and pass the proof to the operation within five minutes. Null if the address contains no answer for a proof that this browser
   * began. Rejects with a ProviderError or CancelledError if there is no proof.
   *
   * @param address in an app: the address with which the browser came back
   */
  readonly resumeProof: (address?: string) => Promise<ResumedProof | null>;
  /** Rejects with `last_way_in` if it is the only way to log in. */
  readonly unlinkIdentity: (
    identity: Pick<ExternalIdentity, 'id' | 'provider'>,
    ...proof: ProofArguments<'unlink_identity', P>
  ) => Promise<void>;
  /** What happened to the account, in the language of the client. */
  readonly activity: (query?: ListQuery<'created_at'>) => List<ActivityEntry>;
  /**
   * The logins of operators as the user. One with the status `pending` waits for the answer of the user: `allowSupportLogin`, or
   * `endSupportLogin` to refuse it.
   */
  readonly supportLogins: (query?: ListQuery<'created_at'>) => List<OwnSupportLogin>;
  /** Lets the operator log in as the user for 30 minutes. Rejects with `support_login_ended` if it is too late. */
  readonly allowSupportLogin: (id: string, options?: Abortable) => Promise<OwnSupportLogin>;
  /** Refuses a login of an operator, or ends it at once. */
  readonly endSupportLogin: (id: string, options?: Abortable) => Promise<void>;
  /** Everything that is stored about the user, as JSON. The file is complete if the stream ends without an error. */
  readonly export: (options?: Abortable) => Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Ends all other logins of the account, and everything that waits for an answer: open logins, recoveries, registrations. With
   * `all` also this login: then the client is signed out. It needs no proof.
   */
  readonly logOutEverywhere: (options?: Abortable & { readonly all?: boolean | undefined }) => Promise<LogoutResult>;
  /** Deletes the account forever, and signs out in this client. */
  readonly deleteAccount: (...proof: ProofArguments<'delete_account', P>) => Promise<void>;
  /** The proofs that this user can give. You can show them before the user starts an operation. */
  readonly proofChoices: <O extends AccountOperation>(
    operation: O,
    options?: Abortable,
  ) => Promise<ProofRequest<O>['choices']>;
}

/**
 * The account of the user who is signed in. With `prove`, every operation that needs a proof asks your dialog, and asks again while the
 * proof is wrong. Without it, pass a `proof` to each operation.
 *
 * @example
 * ```ts
 * import { createAccount, type Postern } from '@postern/client';
 * declare const postern: Postern;
 * declare function askForPassword(message: string): Promise<string | null>;
 *
 * const account = createAccount(postern, {
 *   async prove({ choices, problem }) {
 *     const choice = choices.find(({ type }) => type === 'password');
 *     const password = await askForPassword(problem?.detail ?? 'Your password, please');
 *     return choice?.type === 'password' && password !== null ? choice.prove(password) : null;
 *   },
 * });
 * const pending = await account.setEmail('ada@example.com');
 * await pending.confirm('271828');
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createAccount(postern: Postern, options: { readonly prove: Prover }): AccountClient<true>;
export function createAccount(postern: Postern): AccountClient<false>;
export function createAccount(
  postern: Postern,
  { prove }: { readonly prove?: Prover | undefined } = {},
): AccountClient<true> {
  const core = coreOf(postern);
  const root = '/v1/account';

  const callWithProof = createProofCalls(core, prove);
  const change = (method: 'PUT' | 'POST', path: string, body: object = {}) => ({
    method,
    path: `${root}/${path}`,
    body,
  });
  const remove = (path: string) => ({ method: 'DELETE', path: `${root}${path}` }) as const;
  const read = <T>(path: string, { signal }: Abortable = {}) => core.call<T>({ path: `${root}${path}`, signal });

  /** A change that a second request completes. Lifetimes are measured from now, because clocks differ. */
  async function begin<S extends { readonly id: string }, Details extends object, T>(
    operation: AccountOperation,
    path: string,
    body: object,
    options: ProofOptions | undefined,
    detailsOf: (started: S) => Details,
  ): Promise<PendingChange & Details & { confirm(secret: string, options?: Abortable): Promise<T> }> {
    const started = await callWithProof<S>(operation, change('POST', path, body), options);
    return {
      id: started.id,
      expiresAt: new Date(Date.now() + (/totp|link/.test(operation) ? 600_000 : 300_000)),
      ...detailsOf(started),
      confirm: (secret: string, { signal }: Abortable = {}) =>
        core.call<T>({ ...change('POST', `${path}/${started.id}`, { secret }), signal }),
    };
  }
  /** Only pages with redirects for links or proofs load this code. */
  const loadRedirects = () => loadPart(() => import('./redirects.js'));
  return {
    get: (options) => read('', options),
    update: (body, { signal } = {}) => core.call({ method: 'PATCH', path: root, body, signal }),
    setUsername: (username, options) =>
      callWithProof('set_username', { method: 'PATCH', path: root, body: { username } }, options),
    async setPassword(password, { currentPassword, ...options }: PasswordOptions = {}) {
      const current = currentPassword === undefined ? {} : { current_password: currentPassword };
      const request = change('PUT', 'password', { password, ...current });
      const own = { ...options, owner: {} };
      const proof = currentPassword === undefined ? options.proof : await proofWith(core, currentPassword, own);
      // Only pages that change a password load this code.
      const { replaceToken } = await loadPart(() => import('./replace-token.js'));
      const changed = await callWithProof<ChangedPassword>('set_password', request, { ...own, proof }, (call) =>
        replaceToken(core, call),
      );
      const { token: _token, authentication_id: _id, ...account } = changed;
      return account;
    },
    setPin: (pin, options) => callWithProof('set_pin', change('PUT', 'pin', { pin }), options),
    removePin: (options) => callWithProof('remove_pin', remove('/pin'), options),
    cancelPinRecovery: ({ signal } = {}) => core.call({ ...remove('/pin-recovery'), signal }),
    setEmail: (email, options) => begin('set_email', 'email', { email }, options, noDetails),
    removeEmail: (options) => callWithProof('remove_email', remove('/email'), options),
    setPhone: (phone, options) => begin('set_phone', 'phone', { phone }, options, noDetails),
    removePhone: (options) => callWithProof('remove_phone', remove('/phone'), options),
    enrolTotp: (options) => begin('enrol_totp', 'totp', {}, options, ({ secret, uri }: NewTotp) => ({ secret, uri })),
    removeTotp: (options) => callWithProof('remove_totp', remove('/totp'), options),
    renewRecoveryCodes: (options) => callWithProof('renew_recovery_codes', change('POST', 'recovery-codes'), options),
    listPasskeys: (options) => read('/passkeys', options),
    async addPasskey(name, options) {
      const passkeys = await passkeysOf(core);
      const request = change('POST', 'passkeys', { name });
      const { id, options: creation } = await callWithProof<NewPasskey>('add_passkey', request, options);
      const signal = options?.signal;
      const response = await passkeys.create(creation, { signal });
      return core.call({ ...change('POST', `passkeys/${id}`, { response }), signal });
    },
    renamePasskey: (id, name, { signal } = {}) =>
      core.call({ method: 'PATCH', path: `${root}/passkeys/${encodeURIComponent(id)}`, body: { name }, signal }),
    removePasskey: (id, options) =>
      callWithProof('remove_passkey', remove(`/passkeys/${encodeURIComponent(id)}`), options),
    listIdentities: (options) => read('/external-identities', options),
    linkIdentity: (provider, options) =>
      begin('link_identity', `external-identities/${encodeURIComponent(provider)}`, {}, options, linkOf),
    linkProvider: async (provider, options = {}) =>
      (await loadRedirects()).link(core, provider, options, (body) =>
        callWithProof(
          'link_identity',
          change('POST', `external-identities/${encodeURIComponent(provider)}`, body),
          options,
        ),
      ),
    resumeLink: async (...input) => (await loadRedirects()).resumeLink(core, ...input),
    resumeProof: async (address) => (await loadRedirects()).resumeProof(core, address),
    unlinkIdentity: ({ id, provider }, options) =>
      callWithProof('unlink_identity', remove(`/external-identities/${encodeURIComponent(provider)}/${id}`), options),
    activity: (query = {}) => listOf(core, `${root}/activity`, query),
    supportLogins: (query = {}) => listOf(core, `${root}/support-logins`, query),
    allowSupportLogin: (id, { signal } = {}) =>
      core.call({ ...change('PUT', `support-logins/${encodeURIComponent(id)}`), signal }),
    endSupportLogin: (id, { signal } = {}) =>
      core.call({ ...remove(`/support-logins/${encodeURIComponent(id)}`), signal }),
    async export({ signal } = {}) {
      return (await core.raw({ path: `${root}/export`, signal })).body;
    },
    async logOutEverywhere({ all = false, signal } = {}) {
      const result = await core.call<LogoutResult>({ ...change('POST', 'logout-everywhere', { all }), signal });
      if (all) await forgetLogin(core);
      return result;
    },
    async deleteAccount(options) {
      await callWithProof('delete_account', remove(''), options);
      await forgetLogin(core);
    },
    proofChoices: (operation, options) => choicesFor(core, operation, options),
  };
}

/** If the account accepts the password as a proof, the user is asked only once. */
async function proofWith(core: Core, currentPassword: string, { proof, ...options }: ProofOptions): Promise<unknown> {
  if (proof !== undefined) return proof;
  const choices = await choicesFor(core, 'set_password', options);
  return choices.some(({ type }) => type === 'password') ? passwordProof(currentPassword) : undefined;
}

const noDetails = () => ({});
const linkOf = ({ challenge }: StartedExternalIdentity) => {
  const { issuer, client_ids, nonce } = challenge as Pick<PendingLink, 'issuer' | 'client_ids' | 'nonce'>;
  return { issuer, client_ids, nonce };
};

/** Signs out, because Postern has ended the login already. */
async function forgetLogin({ held, storage, tabs }: Core): Promise<void> {
  await held.inOrder(() => storage.delete(loginKey));
  held.set(undefined, 'logged_out');
  tabs.notify('logged_out');
}
