import { setTimeout as wait } from 'node:timers/promises';
import { recordServiceEvent } from '../../audit/events.js';
import { type Relay, startRelay } from '../../database/relay.js';
import type { UserReferences } from '../../identities/user-references.js';
import { collectFilter, parseFilter } from '../../lib/filter/parse.js';
import type { FieldError } from '../../lib/problem.js';
import type { Notifications } from '../../notifications/notifications.js';
import { createFanOut } from '../../notifications/publications/fan-out.js';
import { createPublications, type Publications } from '../../notifications/publications/publications.js';
import type { UserCondition } from '../../notifications/publications/recipients.js';
import { resolveIdentities, userCondition, userFilterFields } from '../../users/search/fields.js';
import { recordCauses } from '../../webhooks/record.js';
import type { Base } from '../base/base.js';

export interface PublicationDomain {
  readonly publications: Publications;
  /** Starts the fan-out. */
  startRelay(): { stop(): Promise<void> };
}

/** Publications, and the background work that writes their notifications. */
export function createPublicationDomain(
  { database, config, log, traffic }: Base,
  { notifications, userReferences }: { readonly notifications: Notifications; readonly userReferences: UserReferences },
): PublicationDomain {
  let relay: Relay | undefined;
  const conditionOf: UserCondition = async (handle, filter) =>
    userCondition(await resolveIdentities(handle, parseFilter(filter, userFilterFields), config.DEFAULT_REGION));
  const step = createFanOut({
    database,
    userCondition: conditionOf,
    publish: notifications.publishTo,
    remove: notifications.removeAll,
    announce: (tx, { type, id }) => recordCauses(tx, { type, actor: 'system', data: [{ publication_id: id }] }),
    onFailure: (error, id) =>
      log.warn({ err: error, publication_id: id }, 'a step of a publication failed, and is repeated later'),
    isBusy: createBusyCheck(traffic),
  });
  return {
    publications: createPublications({
      database,
      userCondition: conditionOf,
      findUsers: (_handle, references) => userReferences.findRecipients(references),
      filterErrors(filter, field) {
        const errors: FieldError[] = [];
        collectFilter(filter, userFilterFields, errors);
        return errors.map((error) => ({ ...error, field }));
      },
      contentErrors: notifications.contentErrors,
      async record(tx, event) {
        await recordServiceEvent(tx, event);
        // The end of a recall is announced by the fan-out.
        if (!announced.has(event.type)) return;
        await recordCauses(tx, { type: event.type, actor: event.origin.actor, data: [event.data] });
      },
      onDue: () => relay?.notify(),
    }),
    startRelay() {
      const timers = createTimers();
      relay = startRelay(
        async () => {
          const { isDone, nextIn, rest } = await step();
          if (rest > 0) await timers.pause(rest);
          if (!isDone && nextIn !== undefined) timers.notifyIn(nextIn, () => relay?.notify());
          return isDone;
        },
        (error) => log.warn({ err: error }, 'the fan-out of publications failed'),
      );
      const started = relay;
      return {
        async stop() {
          timers.stop();
          await started.stop();
        },
      };
    },
  };
}

/** Requests a second. Beyond this rate, the fan-out makes pauses for the requests. */
const busyRate = 40;

/** Whether more than `busyRate` requests a second have arrived since the last call. Background work does not count: most of it is the pushes of publications. */
function createBusyCheck(traffic: Base['traffic']): () => boolean {
  let last = { at: performance.now(), requests: traffic.requests };
  return () => {
    const now = { at: performance.now(), requests: traffic.requests };
    const rate = (now.requests - last.requests) / ((now.at - last.at) / 1000);
    last = now;
    return rate > busyRate;
  };
}

const announced: ReadonlySet<string> = new Set(['publication.paused', 'publication.resumed', 'publication.cancelled']);

/** Timers that end with the fan-out. The relay looks every second, so only what is due sooner needs one. */
function createTimers() {
  const stopping = new AbortController();
  let next: NodeJS.Timeout | undefined;
  return {
    async pause(ms: number) {
      await wait(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    },
    notifyIn(ms: number, notify: () => void) {
      if (ms > 1000) return;
      clearTimeout(next);
      next = setTimeout(notify, Math.max(1, ms)).unref();
    },
    stop() {
      clearTimeout(next);
      stopping.abort();
    },
  };
}
