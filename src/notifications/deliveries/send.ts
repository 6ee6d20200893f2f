import type { Database } from '../../database/database.js';
import type { Sql } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import type { KnownCategories } from '../categories/categories.js';
import { TemplateTooLarge } from '../templates/render.js';
import { type Attempt, selectDelivery } from './attempt.js';
import type { ReadAddresses } from './facts.js';
import { beginHandOver } from './hand-over.js';
import { type AttemptJob, keyOf } from './jobs.js';
import { createMessage } from './message.js';
import { createOutcomes } from './outcomes.js';
import type { MessageChannel } from './queue.js';
import type { StepMessage, StepSender } from './sender.js';
import { createTargets, type Target } from './target.js';
import { createWaiting } from './waiting.js';

export interface StepSendingOptions {
  readonly database: Database;
  readonly senders: readonly StepSender[];
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
  /** Milliseconds: how late a step may be whose category says nothing. */
  readonly ttl: Readonly<Record<MessageChannel, number>>;
  readonly readAddresses: ReadAddresses;
  /** SQL: whether an operator's lock on the user `u` is in effect. */
  readonly lockHolds: Sql;
  /** The name of the app, for templates. */
  readonly app: string;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
  readonly counters: Counters;
  /** Called for each message that a provider has accepted, with the seconds since it was due, without those for which it was held. */
  readonly onSent?: ((lag: number) => void) | undefined;
  /** Called when a message could not be made, because of a bug. */
  readonly onError: (error: unknown, channel: MessageChannel) => void;
}

/** Makes one attempt of one delivery: the queue's jobs `step.send.…`. Rejects only when the database fails. */
export type SendStep = (channel: MessageChannel, job: AttemptJob) => Promise<void>;

/** Creates the job that makes one attempt of one mail or SMS of a notification. */
export function createStepSending(options: StepSendingOptions): SendStep {
  const { database } = options;
  const senders = new Map(options.senders.map((sender) => [sender.channel, sender]));
  const readDelivery = selectDelivery(options.lockHolds);
  const findTarget = createTargets(options);
  const { repeat, hold, joinDigest } = createWaiting(options);
  const { end, record, retry } = createOutcomes(options);

  /** An unexpected error, which is a bug, counts as a failed attempt: later messages of the user do not wait for its repair. */
  async function createMessageOrLog(
    attempt: Attempt,
    target: Target,
  ): Promise<StepMessage | 'too large' | 'not possible'> {
    try {
      return await createMessage(attempt, target, options);
    } catch (error) {
      if (error instanceof TemplateTooLarge) return 'too large';
      options.onError(error, attempt.channel);
      return 'not possible';
    }
  }

  return async (channel, job) => {
    const sender = senders.get(channel);
    if (sender === undefined) throw new Error('a channel without a sender has no jobs here');
    const held = sender.heldFor();
    if (held > 0) return repeat(channel, job, held);
    const user = database.user(job.user_id);
    const [row] = await user.query(readDelivery({ ...keyOf(job), channel, zone: options.timeZone }));
    if (row === undefined) return;
    const attempt: Attempt = { channel, job, row, dueAt: performance.now() - 1000 * (row.age - row.held) };
    // Before the question for those ahead: what is not sent must not wait for them.
    const target = await findTarget(attempt);
    if ('state' in target) {
      if (target.state === 'held') return hold(attempt);
      if (target.state === 'digesting') return joinDigest(attempt);
      return end(attempt, target);
    }
    if (row.ahead > 0) return repeat(channel, job, row.ahead / 3, row.ahead);
    const pause = await sender.pauseBefore({ userId: job.user_id, to: target.to });
    if (pause > 0) return repeat(channel, job, pause / 1000);
    const message = await createMessageOrLog(attempt, target);
    if (message === 'too large') return end(attempt, { state: 'failed', reason: 'template_too_large' });
    // A job of a delivery that is gone by now finds no row.
    if (!row.was_handed_over && !(await beginHandOver(database, attempt, target))) return repeat(channel, job, 1);
    if (message === 'not possible') {
      return retry(attempt, target, { error: 'the message could not be made; see the log' });
    }
    await record(attempt, target, { sender, message, outcome: await sender.send(message) });
  };
}
