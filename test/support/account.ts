import type { StartedProof } from '../../src/contract/account/proof.js';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import type { ApiAnswer, ProblemAnswer, TestApp } from './app.js';
import { eventually } from './eventually.js';
import { codeOf, createUser, newPhone, password, passwordLogin, smsLogin } from './users.js';

/** A user who is signed in. */
export interface Person {
  readonly user: User;
  /** A session token. */
  readonly bearer: string;
  readonly deviceId: string;
  readonly authenticationId: string;
}

export const byPassword = { type: 'password', secret: password };

/** The codes that were sent to a recipient, newest first. */
export async function codesTo(
  { api, adminKey }: Pick<TestApp, 'api' | 'adminKey'>,
  recipient: string,
): Promise<string[]> {
  const path = `/admin/v1/outbox?filter=recipient:eq:${encodeURIComponent(recipient)}`;
  const { body } = await api<OutboxMessage[]>('GET', path, { bearer: adminKey });
  return body.flatMap(({ state, code }) => (state === 'sent' && code !== null ? [code] : []));
}

/** A new code to a recipient, which is not in `seen`. */
export function codeTo(
  context: Pick<TestApp, 'api' | 'adminKey'>,
  recipient: string,
  seen: readonly string[] = [],
): Promise<string> {
  return eventually(`a code to ${recipient}`, async () =>
    (await codesTo(context, recipient)).find((code) => !seen.includes(code)),
  );
}

/** The steps of tests of self-service. */
export function createSelfService(current: () => TestApp) {
  const person = async (fields: { readonly pin?: string; readonly [name: string]: unknown } = {}): Promise<Person> =>
    signInAgain(await createUser(current(), { phone: newPhone(), ...fields }), fields.pin);
  /** Signs a user in, on a new device. */
  const signInAgain = async (user: User, pin?: string): Promise<Person> => {
    const { api } = current();
    const body = { ...passwordLogin(user.username), ...(pin !== undefined && { pin }) };
    return enter(user, (await api<Authentication>('POST', '/v1/tokens', { body })).body);
  };
  const enter = async (user: User, authentication: Authentication): Promise<Person> => {
    const { body } = await current().api<NewSession>('POST', '/v1/sessions', { basic: authentication.token ?? '' });
    return { user, bearer: body.token, deviceId: body.device_id, authenticationId: authentication.id };
  };
  const ask = <Body = Record<string, unknown>>(
    { bearer }: Pick<Person, 'bearer'>,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer<Body>> =>
    current().api<Body>(method, `/v1/account${path}`, { bearer, ...(body !== undefined && { body }) });
  return {
    ...{ person, signInAgain, ask },
    /** Signs a user without a PIN in by a code to the phone. Postern then accepts any PIN. */
    async bySms(user: User) {
      const { api } = current();
      const { body: begun } = await api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
      const body = { secret: await codeOf(current(), begun.id), pin: '2468' };
      return enter(user, (await api<Authentication>('POST', `/v1/tokens/${begun.id}/secret`, { body })).body);
    },
    /** The status of an error, with the codes of its field errors. */
    async refused(who: Pick<Person, 'bearer'>, method: string, path: string, body?: unknown) {
      const answer = await ask<ProblemAnswer>(who, method, path, body);
      return [
        answer.status,
        ...answer.body.errors.map(({ field, code }) => (field === undefined ? code : `${field} ${code}`)),
      ];
    },
    /** A re-authentication with a code to the account's phone. */
    async byCode(who: Person) {
      const seen = await codesTo(current(), who.user.phone ?? '');
      const { body } = await ask<StartedProof>(who, 'POST', '/proofs', { type: 'sms' });
      return { type: 'code', id: body.id, secret: await codeTo(current(), who.user.phone ?? '', seen) };
    },
    isLoggedIn: async ({ bearer }: Pick<Person, 'bearer'>) =>
      (await current().api('POST', '/v1/sessions/verify', { bearer })).status === 200,
  };
}
