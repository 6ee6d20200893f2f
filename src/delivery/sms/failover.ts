import type { AcceptedSms, SmsMessage, SmsSender } from '../../messages/sms-sender.js';
import { type Circuit, createCircuit } from './circuit.js';
import { SmsError } from './sms-error.js';

export interface FailoverOptions {
  /** In the order of preference. */
  readonly providers: readonly SmsSender[];
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** The first pause lets a short fault pass. The longest one limits how late Postern notices that a provider works again. */
const circuitOptions = { threshold: 3, firstPauseMs: 15_000, longestPauseMs: 300_000 };

/** An error of one provider. */
interface Failed {
  readonly error: SmsError;
  /** As the provider threw it. */
  readonly original: unknown;
}

interface Route {
  readonly provider: SmsSender;
  readonly circuit: Circuit;
}

/**
 * Sends each message through the first provider that accepts it. A provider that has failed several times is used only if
 * all others fail too, except for one trial after each pause. So a message never waits for a pause. A number that is not
 * valid goes to no further provider.
 */
export function createFailover({ providers, now = () => performance.now() }: FailoverOptions): SmsSender {
  const routes = providers.map((provider): Route => ({ provider, circuit: createCircuit({ now, ...circuitOptions }) }));
  return {
    name: providers.map(({ name }) => name).join(','),
    async send(message) {
      const errors: Failed[] = [];
      const paused: Route[] = [];
      for (const route of routes) {
        if (!route.circuit.admit()) paused.push(route);
        else {
          const accepted = await attempt(route, message, errors);
          if (accepted !== undefined) return accepted;
        }
      }
      for (const route of paused) {
        const accepted = await attempt(route, message, errors);
        if (accepted !== undefined) return accepted;
      }
      throw summary(errors);
    },
  };
}

/**
 * @returns undefined if another provider may accept the message
 * @throws SmsError if no provider can deliver it
 */
async function attempt({ provider, circuit }: Route, message: SmsMessage, errors: Failed[]) {
  try {
    const accepted: AcceptedSms = await provider.send(message);
    circuit.succeed();
    return accepted;
  } catch (original) {
    const error =
      original instanceof SmsError ? original : new SmsError(provider.name, 'unavailable', (original as Error).message);
    errors.push({ error, original });
    // A provider that answers about the message works.
    if (error.failure === 'unavailable') circuit.fail(error.retryAfter && error.retryAfter * 1000);
    else circuit.succeed();
    if (error.failure === 'invalid') throw error;
    return undefined;
  }
}

/** One error for all providers. A retry can succeed if one of them was only unavailable. */
function summary(failed: readonly Failed[]): unknown {
  const [first, ...others] = failed;
  if (first === undefined) return new Error('there is no provider');
  if (others.length === 0) return first.original;
  const failure = failed.some(({ error }) => error.failure === 'unavailable') ? 'unavailable' : 'refused';
  const reason = [first.error.reason, ...others.map(({ error }) => error.message)].join('; ');
  return new SmsError(first.error.provider, failure, reason);
}
