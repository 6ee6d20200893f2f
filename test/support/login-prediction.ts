import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { Answer, LoginDiagnosis } from '../../src/contract/login-diagnosis/login-diagnosis.js';
import { type ProblemAnswer, startTestApp, type TestApp } from './app.js';
import { clientId, type Issuer, startIssuer } from './issuer.js';
import type { SoftwareAuthenticator } from './software-authenticator.js';
import { testSql } from './sql.js';
import { messageOf, password, wrongCode } from './users.js';

/** The instances of one database for logins under different settings. The clock of the database stands still. */
export interface Instances {
  /** No limits by address. All authenticators. */
  readonly base: TestApp;
  /** Three logins a minute, one code an hour from an address, two SMS an hour to a prefix. */
  readonly strict: TestApp;
  /** One SMS an hour in total. */
  readonly frugal: TestApp;
  /** Without SMS and mail, and without the key of the secrets that `base` has stored. */
  readonly rotated: TestApp;
  readonly issuer: Issuer;
  close(): Promise<void>;
}

export async function startInstances(): Promise<Instances> {
  const issuer = await startIssuer();
  const base = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    ...{ TRUST_PROXY: '127.0.0.1', MAIL_PROVIDER: 'console', GUESS_LIMIT: '3', GUESS_LOCK: '10m' },
    OIDC_PROVIDERS: JSON.stringify({ attic: { issuer: issuer.url, client_ids: [clientId] } }),
    // Nothing listens there: a diagnosis must not call it.
    CUSTOM_AUTHENTICATORS: JSON.stringify({
      badge: { url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32).toString('base64')}` },
    }),
  });
  const strict = await base.another({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '3', CODE_LIMIT_PER_ADDRESS: '1', SMS_LIMIT_PER_PREFIX: '2' },
  });
  const frugal = await base.another({ SMS_LIMIT_TOTAL: '1' });
  // Without mail: it could take the jobs of codes that it cannot decrypt.
  const rotated = await base.another({ SMS_PROVIDER: 'none', MAIL_PROVIDER: 'none', SECRET_KEY: 'f'.repeat(64) });
  // With a fixed time, no limit and no lock ends between a diagnosis and its login. It is not the end of a TOTP step.
  await base.database.query(
    testSql(`do $$ begin execute format(
      'create or replace function db_now() returns timestamptz language sql volatile as %L',
      format('select %L::timestamptz', to_timestamp(floor(extract(epoch from now()) / 30) * 30 + 5))); end $$`),
  );
  return {
    ...{ base, strict, frugal, rotated, issuer },
    async close() {
      for (const app of [rotated, frugal, strict, base]) await app.close();
      await issuer.close();
    },
  };
}

/** A login with the right secrets, and the user or the identity to diagnose. */
export interface RightLogin {
  /** The instance; the default is `base`. */
  readonly on?: TestApp;
  readonly authenticator: string;
  /** Missing: nobody has the identity. */
  readonly userId?: string;
  readonly identity?: { readonly type: string; readonly value: string | null };
  readonly deviceId?: string;
  readonly pin?: string;
  /** The default is the password of `createUser`. */
  readonly secret?: string;
  readonly totp?: () => Promise<string>;
  readonly passkey?: SoftwareAuthenticator;
  /** The subject of the account at the OpenID provider. */
  readonly subject?: string;
  /** The client's address; the default is a new one, which the diagnosis does not name. */
  readonly address?: string;
}

export const newAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;

type Body = Authentication & Pick<ProblemAnswer, 'errors' | 'type'>;

/** Logs in over HTTP, and returns the answers of the steps in the form of a diagnosis. */
export async function logIn({ base, issuer }: Instances, login: RightLogin): Promise<Answer[]> {
  const { on = base, authenticator, identity, deviceId, pin, address = newAddress() } = login;
  const answers: Answer[] = [];
  const send = async (step: Answer['step'], path: string, body: object) => {
    const answer = await on.api<Body>('POST', path, { body, headers: { 'x-forwarded-for': address } });
    const isProblem = answer.status !== 201;
    const code = isProblem ? answer.body.type.replace('urn:postern:problem:', '') : answer.body.error_code;
    const authentication_status = isProblem ? null : answer.body.status;
    answers.push({ step, status: answer.status, authentication_status, code: code || null });
    return answer.body;
  };
  const started = await send('start', '/v1/tokens', {
    ...{ authenticator, device: deviceId === undefined ? {} : { id: deviceId } },
    ...(identity !== undefined && { identity }),
    ...(authenticator === 'password' && { secret: login.secret ?? password }),
    ...(pin !== undefined && authenticator === 'password' && { pin }),
  });
  let last = started;
  const isOpen = () => answers.at(-1)?.status === 201 && ['created', 'pending'].includes(last.status);
  if (isOpen() && authenticator !== 'password') {
    const secret = await rightSecret(on, issuer, login, started);
    last = await send('secret', `/v1/tokens/${started.id}/secret`, {
      ...{ secret },
      ...(identity !== undefined && { pin: pin ?? '2468' }),
    });
  }
  if (isOpen() && login.totp !== undefined) {
    last = await send('second_factor', `/v1/tokens/${started.id}/secret`, { secret: await login.totp() });
  }
  return answers;
}

async function rightSecret(on: TestApp, issuer: Issuer, login: RightLogin, started: Body): Promise<string> {
  const { challenge } = started;
  if (login.authenticator === 'passkey')
    return login.passkey?.sign({ challenge: challenge?.challenge, rpId: challenge?.rpId }) ?? '{}';
  if (login.authenticator.startsWith('oidc:')) {
    return issuer.sign({ nonce: String(challenge?.nonce), sub: login.subject ?? 'nobody' });
  }
  const { state, code } = await messageOf(on, started.id, ['sent', 'dropped']);
  // The console shows operators also the code of a message that was not sent. The user does not know it.
  return state === 'sent' ? (code ?? '') : wrongCode(code ?? '000000');
}

/** The diagnosis of a login: of its user, or of its identity. */
export async function diagnose({ base }: Instances, login: RightLogin): Promise<LoginDiagnosis> {
  const { on = base, userId, identity, deviceId, authenticator, address } = login;
  const view = { ...(deviceId && { device_id: deviceId }), ...(address && { address }) };
  const bearer = on.adminKey;
  const answer =
    userId === undefined
      ? await on.api<LoginDiagnosis>('POST', '/admin/v1/login-diagnosis', {
          ...{ bearer, body: { identity, authenticator, ...view } },
        })
      : await on.api<LoginDiagnosis>('GET', `/admin/v1/users/${userId}/login-diagnosis?${new URLSearchParams(view)}`, {
          bearer,
        });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** The diagnosis of the login's own authenticator. */
export function wayOf(diagnosis: LoginDiagnosis, { authenticator }: Pick<RightLogin, 'authenticator'>) {
  const way = diagnosis.ways.find((each) => each.authenticator === authenticator);
  if (way === undefined) throw new Error(`the diagnosis does not contain ${authenticator}`);
  return way;
}

/** The codes of the reasons that refuse a login by one authenticator. */
export function blockersOf(diagnosis: LoginDiagnosis, login: Pick<RightLogin, 'authenticator'>): string[] {
  const reasons = [...diagnosis.reasons, ...wayOf(diagnosis, login).reasons];
  return reasons.filter(({ effect }) => effect === 'blocks').map(({ code }) => code);
}
