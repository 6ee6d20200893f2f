import type { NewSession, Session } from '../../src/contract/session.js';
import type { IssuedSupportLogin, NewSupportLogin } from '../../src/contract/support-login.js';
import type { ProblemAnswer, TestApp } from './app.js';
import type { signInWithRole } from './operators.js';

type Operator = Awaited<ReturnType<typeof signInWithRole>>;

/** Asks for a support login, as this operator. */
export const askForLogin = (
  { api }: Pick<TestApp, 'api'>,
  operator: Pick<Operator, 'bearer'>,
  userId: string,
  input: NewSupportLogin = { reason: 'Ticket 4711' },
) =>
  api<IssuedSupportLogin & Pick<ProblemAnswer, 'errors'>>('POST', `/admin/v1/users/${userId}/support-logins`, {
    bearer: operator.bearer,
    body: input,
  });

/** A support login with a session. */
export async function logInAs(
  postern: TestApp,
  operator: Pick<Operator, 'bearer'>,
  userId: string,
  { write = false }: { readonly write?: boolean } = {},
) {
  const { status, body: login, text } = await askForLogin(postern, operator, userId, { reason: 'Ticket 4711', write });
  if (status !== 201 || login.token === undefined) throw new Error(`no support login: ${text}`);
  const { body: session } = await postern.api<NewSession>('POST', '/v1/sessions', { basic: login.token });
  return { login, token: login.token, session };
}

/** The status of a check of a session, and its answer. */
export const verify = ({ api }: Pick<TestApp, 'api'>, token: string) =>
  api<Session & Pick<ProblemAnswer, 'errors'>>('GET', '/v1/sessions/verify', { bearer: token });
