import type { AcceptedSms, SmsMessage, SmsSender } from '../../messages/sms-sender.js';
import { failureThreshold, type OnHealth } from '../provider-health.js';
import { type Circuit, createCircuit } from './circuit.js';
import { SmsError } from './sms-error.js';

export interface FailoverOptions {
  /** The providers, in the order of preference. */
  readonly providers: readonly SmsSender[];
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  readonly onHealth?: OnHealth;
}

/** The first pause lets a short fault pass. The longest one limits how late Postern notices that a provider works again. */
const circuitOptions = { threshold: failureThreshold, firstPauseMs: 15_000, longestPauseMs: 300_000 };

/** An error of one provider. */
interface ProviderFailure {
  readonly error: SmsError;
  /** The error as the provider threw it. */
  readonly original: unknown;
}

interface Route {
  /** Called after each attempt. */
  readonly report: (error?: SmsError) => void;
  readonly provider: SmsSender;
  readonly circuit: Circuit;
}

/**
 * Sends each message through the first provider that accepts it. A provider that has failed several times is used in
 * two cases only: for one trial message after each pause, and if all other providers fail too. So a message never waits
 * for the end of a pause. If a provider says that a number is not valid, the message goes to no other provider.
 */
export function createFailover(options: FailoverOptions): SmsSender {
  const { providers, now = () => performance.now(), onHealth } = options;
  const routes = providers.map((provider): Route => {
    const circuit = createCircuit({ now, ...circuitOptions });
    return { provider, circuit, report: createReport(provider.name, circuit, onHealth) };
  });
  return {
    name: providers.map(({ name }) => name).join(','),
    async send(message) {
      const errors: ProviderFailure[] = [];
      const paused: Route[] = [];
      for (const route of routes) {
        if (!route.circuit.admit()) paused.push(route);
        else {
          const acceptedSms = await attempt(route, message, errors);
          if (acceptedSms !== undefined) return acceptedSms;
        }
      }
      for (const route of paused) {
        const acceptedSms = await attempt(route, message, errors);
        if (acceptedSms !== undefined) return acceptedSms;
      }
      throw combinedError(errors);
    },
  };
}

/** Reports only changes, so messages cause no reports while a provider works. */
function createReport(provider: string, circuit: Circuit, onHealth: OnHealth | undefined): Route['report'] {
  let isKnownToWork = false;
  return (error) => {
    if (!circuit.isOpen() && error === undefined && !isKnownToWork) {
      isKnownToWork = true;
      onHealth?.({ provider, error: undefined });
    }
    if (!circuit.isOpen() || error === undefined) return;
    isKnownToWork = false;
    onHealth?.({ provider, error: error.message });
  };
}

/**
 * @returns undefined if another provider may accept the message
 * @throws SmsError if no provider can deliver it
 */
async function attempt({ provider, circuit, report }: Route, message: SmsMessage, errors: ProviderFailure[]) {
  try {
    const acceptedSms: AcceptedSms = await provider.send(message);
    circuit.succeed();
    report();
    return acceptedSms;
  } catch (original) {
    const error =
      original instanceof SmsError ? original : new SmsError(provider.name, 'unavailable', (original as Error).message);
    errors.push({ error, original });
    // A provider that answers about the message works.
    if (error.failure === 'unavailable') circuit.fail(error.retryAfter && error.retryAfter * 1000);
    else circuit.succeed();
    report(error.failure === 'unavailable' ? error : undefined);
    if (error.failure === 'invalid') throw error;
    return undefined;
  }
}

/** One error for all providers. A retry can succeed if at least one provider was only unavailable. */
function combinedError(failures: readonly ProviderFailure[]): unknown {
  const [first, ...others] = failures;
  if (first === undefined) return new Error('there is no provider');
  if (others.length === 0) return first.original;
  const failure = failures.some(({ error }) => error.failure === 'unavailable') ? 'unavailable' : 'refused';
  const reason = [first.error.reason, ...others.map(({ error }) => error.message)].join('; ');
  return new SmsError(first.error.provider, failure, reason);
}
