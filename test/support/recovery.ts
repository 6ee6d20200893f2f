import type { Recovered } from '../../src/contract/account/recovery.js';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { User } from '../../src/contract/user.js';
import { codesTo, codeTo } from './account.js';
import type { ProblemAnswer, TestApp } from './app.js';
import { stepClock } from './clock.js';
import { eventually } from './eventually.js';
import { testSql } from './sql.js';
import { passwordLogin } from './users.js';

/** The steps of tests of recoveries. */
export function createRecoverySteps(current: () => TestApp) {
  const begin = async (user: User, purpose: 'password' | 'pin', type: 'phone' | 'email' = 'phone') => {
    const value = user[type] ?? '';
    const seen = await codesTo(current(), value);
    // Allows several codes in a minute: the limits have their own tests.
    await current().database.query(testSql('delete from message_limits'));
    const { body } = await current().api<{ id: string }>('POST', '/v1/recoveries', {
      body: { identity: { type, value }, purpose },
    });
    return { path: `/v1/recoveries/${body.id}`, secret: await codeTo(current(), value, seen) };
  };
  const complete = (path: string, body: object) =>
    current().api<Recovered & Pick<ProblemAnswer, 'errors'>>('POST', path, { body });
  /** The status of a login with password and PIN. */
  async function loginWith(user: Pick<User, 'username'>, pin: string | undefined, password?: string) {
    const body = { ...passwordLogin(user.username, password), ...(pin !== undefined && { pin }) };
    return (await current().api<{ status: string }>('POST', '/v1/tokens', { body })).body.status;
  }
  return {
    begin,
    complete,
    /** Recovers the PIN. It is active at once or after the delay. */
    async recoverPin(user: User, pin: string, type: 'phone' | 'email' = 'phone') {
      const { path, secret } = await begin(user, 'pin', type);
      return complete(path, { secret, pin });
    },
    /** The code that cancels a recovery, from the message to an address. */
    cancelCode: (address: string | null, seen: readonly string[] = []) =>
      eventually('a code that cancels', async () => {
        const filter = `recipient:eq:${encodeURIComponent(address ?? '')},kind:in:sms.pin_recovery;email.pin_recovery`;
        const path = `/admin/v1/outbox?filter=${filter}`;
        const { body } = await current().api<OutboxMessage[]>('GET', path, { bearer: current().adminKey });
        return body.find(({ code }) => code !== null && !seen.includes(code))?.code ?? undefined;
      }),
    cancel: (type: string, value: string | null, secret: string) =>
      current().api<ProblemAnswer>('POST', '/v1/recovery-cancellations', {
        body: { identity: { type, value }, secret },
      }),
    loginWith,
    /** The PINs among these that can log in. */
    async acceptedPins({ user }: { user: Pick<User, 'username'> }, pins = ['2468', '1357'], password?: string) {
      const right: string[] = [];
      for (const pin of pins) if ((await loginWith(user, pin, password)) === 'approved') right.push(pin);
      return right;
    },
    /** Sets the clock of the database ahead by this interval. */
    setClockAhead: (interval: string) => stepClock(current().database, interval),
  };
}
