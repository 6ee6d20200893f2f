import type { PushChannel } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import type { Counters } from '../../statistics/counters.js';
import { type AttemptJob, keyOf } from '../deliveries/jobs.js';
import { selectDelivery } from './attempt.js';
import type { CallLimits } from './call-limits.js';
import { createOutcomes, type KnownDelivery } from './outcomes.js';
import type { PushOptions } from './plan.js';
import { createPreparation, type PreparationOptions, type Prepared } from './prepare.js';
import type { PushMessage, PushOutcome, PushSender } from './sender.js';

export interface PushSendingOptions extends PushOptions {
  readonly database: Database;
  readonly senders: readonly PushSender[];
  /** Milliseconds after which a push expires. */
  readonly ttl: number;
  readonly urgency: PushMessage['urgency'];
  /** The name of the app, for templates. */
  readonly app: string;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
  readonly isAllowedOut: PreparationOptions['isAllowedOut'];
  /** Seconds after which to ask again because pushes are paused; 0: they are not. Notices about the account go on. */
  readonly heldFor: () => number;
  /** Called when a sender throws, because of a bug or an unexpected answer of the push service. */
  readonly onError: (error: unknown, channel: PushChannel) => void;
  readonly counters: Counters;
  /** Called for each push of a notification that a push service has accepted, with the seconds since it was due. */
  readonly onSent?: ((lag: number) => void) | undefined;
  /** Shared by all channels: a user has the same number of calls at a time, whatever the devices. */
  readonly calls: CallLimits;
}

/** Makes one attempt of one push: the queue's jobs `push.send.…`. Rejects only when the database fails. */
export type SendPush = (channel: PushChannel, job: AttemptJob) => Promise<void>;

/** Creates the job that makes one attempt of one push. */
export function createPushSending(options: PushSendingOptions): SendPush {
  const { database, calls } = options;
  const senders = new Map(options.senders.map((sender) => [sender.channel, sender]));
  const prepare = createPreparation(options);
  const { refuse, hold, record, postpone, waitForHost } = createOutcomes(options);

  async function attempt(channel: PushChannel, { token, message, registeredAt }: Prepared): Promise<PushOutcome> {
    try {
      const sender = senders.get(channel);
      if (sender === undefined) throw new Error('a channel without a sender has no jobs here');
      const outcome = await sender.send(token, message);
      const isOlder = outcome.outcome === 'gone' && outcome.since !== undefined && outcome.since < registeredAt;
      // The answer is about an earlier registration of the same token.
      return isOlder ? { outcome: 'retry', reason: outcome.reason } : outcome;
    } catch (error) {
      options.onError(error, channel);
      return { outcome: 'retry', reason: 'the sender failed; see the log' };
    }
  }

  /** Sends, unless the host of the device has no call left or does not answer. */
  async function attemptWithinLimits(channel: PushChannel, job: AttemptJob, row: KnownDelivery, prepared: Prepared) {
    const host = senders.get(channel)?.hostOf?.(prepared.token);
    const call = host === undefined ? undefined : calls.beginHost(job.user_id, host);
    if (call !== undefined && 'waitMs' in call) return waitForHost(channel, job, row, call);
    let isAnswered = false;
    try {
      const outcome = await attempt(channel, prepared);
      isAnswered = outcome.outcome !== 'retry' || outcome.isUnanswered !== true;
      await record(channel, job, row, prepared, outcome);
    } finally {
      call?.end(isAnswered);
    }
  }

  return async (channel, job) => {
    const userCall = calls.beginUser(job.user_id);
    if ('waitMs' in userCall) return postpone(channel, job, userCall);
    try {
      const user = database.user(job.user_id);
      const [row] = await user.query(selectDelivery({ ...keyOf(job), ttl: options.ttl, zone: options.timeZone }));
      if (row === undefined) return;
      const dueAt = performance.now() - options.ttl + 1000 * row.seconds_left;
      const held = row.notice === null ? options.heldFor() : 0;
      if (held > 0) return await postpone(channel, job, { waitMs: held * 1000, isSilent: false });
      const { result: prepared, category } = await prepare(channel, job, row);
      const known = { ...row, category, dueAt };
      if ('heldUntil' in prepared) return await hold(channel, job, known);
      if ('state' in prepared) return await refuse(channel, job, known, prepared);
      await attemptWithinLimits(channel, job, known, prepared);
    } finally {
      userCall.end();
    }
  };
}
