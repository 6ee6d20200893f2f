import type { AcceptedMessage, MessageSender } from '../../messages/message-sender.js';
import { type Circuit, createCircuit } from './circuit.js';
import { ProviderError } from './provider-error.js';
import { createHealth, failureThreshold, type Health, type OnHealth } from './provider-health.js';

export interface FailoverOptions<Message> {
  /** The providers, in the order of preference. */
  readonly providers: readonly MessageSender<Message>[];
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  readonly onHealth?: OnHealth;
}

/** The first pause lets a short fault pass. The longest one limits how late Postern notices that a provider works again. */
const circuitOptions = { threshold: failureThreshold, firstPauseMs: 15_000, longestPauseMs: 300_000 };

/** How often a message goes to the same provider again after an unclear answer. Its id shows that it is the same message. */
const maxRepeats = 2;

/** A failed attempt. */
interface Failure {
  readonly error: ProviderError;
  /** The error as the provider threw it. */
  readonly original: unknown;
}

interface Route<Message> {
  readonly health: Health | undefined;
  readonly provider: MessageSender<Message>;
  readonly circuit: Circuit;
}

/**
 * Sends each message through the first provider that accepts it. A provider that has failed several times is used in
 * two cases only: for one trial message after each pause, and if all other providers fail too. So a message never waits
 * for the end of a pause. If a provider says that the recipient is not valid, the message goes to no other provider. If an
 * answer is unclear, the provider gets the message twice more before the next one does.
 */
export function createFailover<Message>(options: FailoverOptions<Message>): MessageSender<Message> {
  const { providers, now = () => performance.now(), onHealth } = options;
  const routes = providers.map((provider): Route<Message> => {
    const circuit = createCircuit({ now, ...circuitOptions });
    return { provider, circuit, health: onHealth && createHealth(provider.name, { onHealth, now }) };
  });
  return {
    name: providers.map(({ name }) => name).join(','),
    async send(message) {
      const failures: Failure[] = [];
      const paused: Route<Message>[] = [];
      for (const route of routes) {
        if (!route.circuit.admit()) paused.push(route);
        else {
          const accepted = await tryProvider(route, message, failures);
          if (accepted !== undefined) return accepted;
        }
      }
      for (const route of paused) {
        const accepted = await tryProvider(route, message, failures);
        if (accepted !== undefined) return accepted;
      }
      throw combinedError(failures);
    },
  };
}

/**
 * @returns undefined if another provider may accept the message
 * @throws ProviderError if no provider can deliver it
 */
async function tryProvider<Message>(
  route: Route<Message>,
  message: Message,
  failures: Failure[],
): Promise<AcceptedMessage | undefined> {
  for (let repeats = 0; ; repeats += 1) {
    const result = await attempt(route, message);
    if (!('error' in result)) return result;
    const { failure } = result.error;
    if (failure === 'invalid') throw result.error;
    if (failure === 'unclear' && repeats < maxRepeats) continue;
    failures.push(result);
    return undefined;
  }
}

async function attempt<Message>(
  { provider, circuit, health }: Route<Message>,
  message: Message,
): Promise<AcceptedMessage | Failure> {
  try {
    const accepted = await provider.send(message);
    circuit.succeed();
    health?.succeed();
    return accepted;
  } catch (original) {
    const error =
      original instanceof ProviderError
        ? original
        : new ProviderError(
            provider.name,
            isPermanent(original) ? 'refused' : 'unavailable',
            (original as Error).message,
          );
    // A provider that answers about the message works.
    if (error.permanent) {
      circuit.succeed();
      health?.succeed();
    } else {
      circuit.fail(error.retryAfter && error.retryAfter * 1000);
      health?.fail(error.message, circuit.isOpen());
    }
    return { error, original };
  }
}

const isPermanent = (error: unknown) => error instanceof Error && 'permanent' in error && error.permanent === true;

/** One error for all providers. A retry can succeed unless each provider has refused the message for ever. */
function combinedError(failures: readonly Failure[]): unknown {
  const [first, ...others] = failures;
  if (first === undefined) return new Error('there is no provider');
  if (others.length === 0) return first.original;
  const failure = failures.every(({ error }) => error.permanent) ? 'refused' : 'unavailable';
  const reason = [first.error.reason, ...others.map(({ error }) => error.message)].join('; ');
  return new ProviderError(first.error.provider, failure, reason);
}
