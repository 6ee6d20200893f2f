import { sealTask } from '../audit/integrity/seal.js';
import { eventFeedTask } from '../audit/stream/feed-retention.js';
import { unusedSchemesTask, wrapHashesTask } from '../credentials/password-schemes.js';
import { expiryTasks } from '../database/maintenance/expiry.js';
import { startMaintenance } from '../database/maintenance/tasks.js';
import { type JobGroup, type Queue, startQueue } from '../delivery/queue.js';
import { reencryptionTask } from '../keys/old-keys.js';
import { version } from '../lib/own-package.js';
import { alwaysShownNotices } from '../messages/kinds.js';
import type { ShowNotice } from '../messages/notice-sending.js';
import { startImageCleanup } from '../notifications/images/cleanup.js';
import { eraseImagesOf, type RemoveImageFrom } from '../notifications/images/erase.js';
import { anonymiseActor } from '../notifications/inbox/anonymise-actor.js';
import { erasePublished } from '../notifications/publications/erase.js';
import { inboxTypeOf } from '../notifications/push/notice.js';
import { preferencesTask } from '../notifications/retention/preferences.js';
import { notificationTables } from '../notifications/retention/retention.js';
import { statesTask } from '../notifications/retention/states.js';
import { tombstoneTask } from '../notifications/retention/tombstones.js';
import { topicsTask } from '../notifications/retention/topics.js';
import { startIndexBuild } from '../schema/late-indexes.js';
import { sessionChangesTask } from '../sessions/fast-path/session-invalidation.js';
import { statisticsTask } from '../statistics/retention.js';
import { eraseUser } from '../users/erase.js';
import { guestExpiryTask } from '../users/guest-expiry.js';
import type { Base } from './base/base.js';
import type { Domains } from './services.js';

/** The maximum number of concurrent jobs that wait for no provider. */
const maxOtherJobs = 4;

/** For tests, which start many services. */
export interface BackgroundOptions {
  /** Connections that the workers of the queue share. */
  readonly queueConnections?: number;
  /**
   * The maximum number of concurrent jobs. If it is set, all jobs are in one group: otherwise each group has a connection, and idle workers of
   * its own that poll.
   */
  readonly queueConcurrency?: number | undefined;
  /** Milliseconds until the first maintenance task. At the start, all of them are due. */
  readonly maintenanceDelay?: number | undefined;
}

/** Starts the queue, the relays that fill it, and the maintenance tasks. */
export async function startBackgroundWork(
  base: Base,
  domains: Domains,
  options: BackgroundOptions = {},
): Promise<{ readonly queue: Queue }> {
  const { config, log, lifecycle, resources, target, database, keys, statistics, hasher, tracing } = base;
  const { messaging, push, deliverySteps, notifications, publications, webhooks, backups } = domains;
  const { queueConnections: connections = resources.jobs, queueConcurrency } = options;
  const groups: JobGroup[] = [
    { tasks: otherTasks(base, domains), concurrency: Math.min(maxOtherJobs, resources.jobs) },
    ...messaging.jobGroups(resources.jobs),
    ...push.jobGroups,
    ...deliverySteps.jobGroups,
  ];
  const jobGroups = queueConcurrency === undefined ? groups : [mergeGroups(groups, queueConcurrency)];
  const onJobStarted = (task: string, waitSeconds: number) => {
    statistics.counters.add('queue.jobs', task);
    statistics.counters.add('queue.latency', task, waitSeconds);
  };
  const queue = await startQueue({ target, log, groups: jobGroups, connections, onJobStarted, tracing });
  const relays = [
    push.startRelay(),
    deliverySteps.startRelay(),
    publications.startRelay(),
    webhooks.start(),
    messaging.startDispatch(),
  ];
  // Together: while one stops, another would begin a query, and a database that hangs would hold up each of them in turn.
  lifecycle.add([queue, ...relays], async (parts) => {
    await Promise.all(parts.map((part) => part.stop()));
  });
  const tasks = [
    ...expiryTasks(config.EVENT_RETENTION),
    sessionChangesTask,
    eventFeedTask,
    sealTask(config.EVENT_RETENTION, (day) => log.info(day, 'the audit events of a day were sealed')),
    unusedSchemesTask,
    wrapHashesTask(hasher, version),
    tombstoneTask,
    statesTask,
    preferencesTask,
    topicsTask,
    guestExpiryTask,
    statisticsTask,
    ...notifications.retention.tasks,
    ...(keys.ids.length > 1 ? [reencryptionTask(keys)] : []),
  ];
  lifecycle.add(startIndexBuild(base, log), (build) => build.stop());
  lifecycle.add(
    startMaintenance(
      database,
      tasks,
      (error) => log.warn({ err: error }, 'expired rows could not be removed'),
      options.maintenanceDelay,
    ),
    (maintenance) => maintenance.stop(),
  );
  await backups.start();
  lifecycle.add(
    startImageCleanup({ database, storage: notifications.storage }, (error) =>
      log.warn({ err: error }, 'images could not be cleaned up'),
    ),
    (cleanup) => cleanup.stop(),
  );
  return { queue };
}

function mergeGroups(groups: readonly JobGroup[], concurrency: number): JobGroup {
  return { tasks: Object.assign({}, ...groups.map(({ tasks }) => tasks)) as JobGroup['tasks'], concurrency };
}

/**
 * Erased after the messages of the outbox and of steps. A process that sends a mail first writes a row of this table. If the message is gone then,
 * the process removes the row itself, so none is left.
 */
const acceptedMails = { table: 'mail_deliveries', key: 'id' };

/** The jobs that wait for no provider. */
function otherTasks({ config, database, signals }: Base, domains: Domains): JobGroup['tasks'] {
  const { services, messaging, notifications } = domains;
  const hide: RemoveImageFrom = (tx, id) => services.notifications.change(tx, id, { image_id: null });
  return {
    async 'user.erase'(job) {
      const { user_id: userId } = job as { user_id: string };
      await eraseUser(database, userId, [...notificationTables, acceptedMails], (id) =>
        anonymiseActor(database, id, signals.send),
      );
      // After the rows above: then no new chunk can contain the user.
      await erasePublished(database, userId);
      await eraseImagesOf({ database, storage: notifications.storage, hide }, userId);
    },
    'user.next_pin': (job) => services.pinRecoveries.apply((job as { user_id: string }).user_id),
    ...messaging.noticeTasks(showNotice(config, domains)),
  };
}

/** Shows a notice in the inbox, if that is a channel of notices, and as a push with the same id. Mails and SMS are created elsewhere. */
function showNotice(
  { APP_NAME: title, NOTIFICATION_TYPES: types }: Base['config'],
  { services, messaging, push }: Domains,
): ShowNotice {
  const { channels } = messaging.notices;
  const type = inboxTypeOf(types);
  return async (tx, { id, userId, kind, text, exceptDevice }) => {
    const isAlwaysShown = alwaysShownNotices.includes(kind);
    const content = { user_id: userId, notification_type: type, notification_key: kind, description: text };
    const inboxEntry =
      isAlwaysShown || channels.includes('inbox')
        ? await services.notifications.publishWithoutPush(tx, content, { isAlwaysShown })
        : { id, sequence: null };
    if (!isAlwaysShown && !channels.includes('push')) return;
    const { id: noticeId, sequence } = inboxEntry;
    await push.pushNotice(tx, { id: noticeId, sequence, userId, kind, title, body: text, exceptDevice });
  };
}
