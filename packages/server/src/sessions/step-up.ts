import { UsageError } from '@postern/client/internal';
import type { Session } from '../wire.js';
import { type Refusal, refusal } from './answers.js';

/** The requirements of a request, in addition to a valid session. */
export interface StepUpOptions {
  /**
   * The maximum age of the login or of the last proof in it, by the clock of this machine: milliseconds, or a text such as `90s`, `10m`,
   * `2h` or `1d`.
   */
  readonly within?: number | string | undefined;
  /** Whether the login and its proofs must have used two factors (`mfa` in `amr`), one of them an authenticator app or a passkey. */
  readonly factor?: boolean | undefined;
}

/** What a session or an access token says about its login. */
type Proofs = Pick<Session, 'authenticated_at' | 'proven_at' | 'amr' | 'act'>;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function millisecondsOf(within: number | string): number {
  if (typeof within === 'number' && within > 0) return within;
  const [, count = '', unit = ''] = /^([1-9]\d{0,6})([smhd])$/.exec(String(within)) ?? [];
  const milliseconds = typeof within === 'string' ? Number(count) * (unitMs[unit] ?? 0) : 0;
  if (milliseconds > 0) return milliseconds;
  throw new UsageError('`within` must be a number of milliseconds, or a text such as "10m".');
}

/**
 * Creates the check of `within` and `factor`. It returns the refusal (RFC 9470), or undefined if the session is enough.
 *
 * @throws UsageError for options that are not valid
 */
export function createStepUpCheck({ within, factor = false }: StepUpOptions): (session: Proofs) => Refusal | undefined {
  const maxAgeMs = within === undefined ? undefined : millisecondsOf(within);
  const seconds = maxAgeMs === undefined ? undefined : Math.floor(maxAgeMs / 1000);
  const title = 'This needs a recent proof of who you are.';
  const challenge = [
    'Bearer error="insufficient_user_authentication"',
    `error_description="${title}"`,
    ...(seconds === undefined ? [] : [`max_age="${seconds}"`]),
  ];
  const answer = refusal(401, 'insufficient_user_authentication', title, ['www-authenticate', challenge.join(', ')], {
    ...(seconds !== undefined && { max_age: seconds }),
    factor,
  });
  const asksNothing = maxAgeMs === undefined && !factor;
  return ({ authenticated_at: login, proven_at: proof, amr, act }) => {
    // The user has proven nothing in a support login.
    if (act !== undefined) return asksNothing ? undefined : answer;
    const isRecent = maxAgeMs === undefined || [login, proof].some((time) => time !== null && isWithin(time, maxAgeMs));
    return isRecent && (!factor || hasFactor(amr)) ? undefined : answer;
  };
}

/**
 * Whether one of two factors was a device that the user has enrolled: an authenticator app or a passkey. A password and a code are not
 * enough: somebody who reads the codes to an address can also recover the password.
 */
const hasFactor = (amr: Session['amr']) =>
  amr.includes('mfa') && amr.some((method) => method === 'otp' || method === 'hwk');

/** The clock of the service may be ahead of this one by this many milliseconds. A time further in the future has an unknown age. */
const tolerance = 60_000;

function isWithin(time: string, maxAgeMs: number): boolean {
  const age = Date.now() - Date.parse(time);
  return age >= -tolerance && age <= maxAgeMs;
}

/**
 * The answer of the middlewares to a session that is not enough for `within` and `factor`, for routes that call `verify` themselves.
 * Undefined if the session is enough.
 *
 * @example
 * ```ts
 * import { createPosternServer, refusalOf, stepUpRefusalOf } from '@postern/server';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * export async function pay(request: Request): Promise<Response> {
 *   const session = await postern.verify(request);
 *   const refusal = session === null ? refusalOf(null) : stepUpRefusalOf(session, { within: '10m' });
 *   return refusal === undefined ? Response.json({ paid: true }) : new Response(refusal.body, refusal);
 * }
 * ```
 */
export function stepUpRefusalOf(session: Proofs, options: StepUpOptions): Refusal | undefined {
  return createStepUpCheck(options)(session);
}
