import type { NewPasskey, NewTotp, Passkey, RecoveryCodes } from '../../src/contract/account/factors.js';
import type { Authentication } from '../../src/contract/authentication.js';
import { totpCode } from '../../src/lib/crypto/totp.js';
import { byPassword, createSelfService, type Person } from './account.js';
import type { ProblemAnswer, TestApp } from './app.js';
import { eventually } from './eventually.js';
import { type CreationOptions, type MakingClaims, makePasskey } from './software-authenticator.js';
import { testSql } from './sql.js';
import { passwordLogin } from './users.js';

/** An authenticator app: the code of the step that the database's clock is in, and of those around it. */
export interface AuthenticatorApp {
  code(stepsFromNow?: number): Promise<string>;
  /** Resets the last used code, so that tests do not wait for the next half minute. */
  rewind(): Promise<unknown>;
}

export type Answer = Authentication & Pick<ProblemAnswer, 'errors'>;

const clock = testSql<{ step: number; age: number }>(
  `select floor(epoch / 30)::int8 as step, (epoch % 30)::float8 as age from (select extract(epoch from db_now())) now (epoch)`,
);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes of a base32 text (RFC 4648). */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

interface EnrolmentClaims extends MakingClaims {
  readonly proof?: object;
  readonly name?: string;
  readonly enrollment_secret?: string;
}

/** The steps of tests of second factors, with signed-in users. */
export function createFactors(current: () => TestApp) {
  const { ask, person, signInAgain } = createSelfService(current);

  const appOf = (userId: string, base32: string): AuthenticatorApp => {
    const secret = fromBase32(base32);
    return {
      code: (stepsFromNow = 0) =>
        // Waits while a step is about to end, so that the step is the same when the code arrives.
        eventually('a step that does not end soon', async () => {
          const [row] = await current().database.query(clock);
          return row === undefined || row.age > 25 ? undefined : totpCode(secret, row.step + stepsFromNow);
        }),
      rewind: () => current().database.query(testSql('update totp set last_step = 0 where user_id = $1', [userId])),
    };
  };

  return {
    ...{ ask, person, signInAgain },
    /** Enrols an app. Its current codes can be used afterwards. */
    async enrolTotp(who: Person, proof: object = byPassword) {
      const { body } = await ask<NewTotp>(who, 'POST', '/totp', { proof });
      const app = appOf(who.user.id, body.secret);
      const { body: confirmed } = await ask<RecoveryCodes>(who, 'POST', `/totp/${body.id}`, {
        secret: await app.code(),
      });
      await app.rewind();
      return { app, secret: body.secret, recoveryCodes: confirmed.recovery_codes };
    },
    appOf,
    /** Creates a passkey and enrols it. */
    async enrolPasskey(who: Person, claims: EnrolmentClaims = {}) {
      const { proof = byPassword, name = 'Key', enrollment_secret } = claims;
      const asked = { proof, name, ...(enrollment_secret !== undefined && { enrollment_secret }) };
      const { body } = await ask<NewPasskey>(who, 'POST', '/passkeys', asked);
      const options = body.options as unknown as CreationOptions;
      const { authenticator, response } = makePasskey(options, originOf(current()), claims);
      const enrolled = await ask<Passkey>(who, 'POST', `/passkeys/${body.id}`, { response });
      return { authenticator, passkey: enrolled.body, status: enrolled.status };
    },
    start: (body: object) => current().api<Answer>('POST', '/v1/tokens', { body }),
    startWithPassword: ({ user }: Pick<Person, 'user'>, device: object = {}) =>
      current().api<Answer>('POST', '/v1/tokens', { body: passwordLogin(user.username, undefined, device) }),
    startWithPasskey: () =>
      current().api<Answer>('POST', '/v1/tokens', { body: { authenticator: 'passkey', device: {} } }),
    answer: (id: string, secret: string, headers = {}) =>
      current().api<Answer>('POST', `/v1/tokens/${id}/secret`, { body: { secret }, headers }),
  };
}

/** The default origin of the page: see PASSKEY_ORIGINS. */
export const originOf = ({ url }: Pick<TestApp, 'url'>) => `http://localhost:${new URL(url).port}`;
