import { type SealedDay, sealTask } from '../audit/integrity/seal.js';
import { eventFeedTask } from '../audit/stream/feed-retention.js';
import { unusedSchemesTask } from '../credentials/password-schemes.js';
import { mainShard, type Shard } from '../database/database.js';
import { startIndexBuild } from '../database/late-indexes.js';
import { expiryTasks } from '../database/maintenance/expiry.js';
import { startMaintenance } from '../database/maintenance/tasks.js';
import { reencryptionTask } from '../database/secrets/old-keys.js';
import { serverField } from '../database/sharding/routing.js';
import { type JobGroup, type Queue, startQueues } from '../delivery/queue.js';
import { repeatClaim } from '../devices/push-devices.js';
import { type Claim, completeClaim } from '../devices/push-token-claims.js';
import { createConcurrencyLimiter } from '../lib/concurrency-limiter.js';
import type { ShowNotice } from '../messages/notice-sending.js';
import { startImageCleanup } from '../notifications/images/cleanup.js';
import { eraseImagesOf, type RemoveImageFrom } from '../notifications/images/erase.js';
import { anonymiseActor } from '../notifications/inbox/anonymise-actor.js';
import { noticeType } from '../notifications/push/notice.js';
import { notificationTables } from '../notifications/retention/retention.js';
import { tombstoneTask } from '../notifications/retention/tombstones.js';
import { sessionChangesTask } from '../sessions/fast-path/session-invalidation.js';
import { statisticsTask } from '../statistics/retention.js';
import { eraseUser } from '../users/erase.js';
import { endpointCopiesTask, repairEndpointCopies } from '../webhooks/endpoints/copies.js';
import type { Base } from './base/base.js';
import type { Domains } from './services.js';

/** The maximum number of concurrent jobs that wait for no provider. */
const maxOtherJobs = 4;
/** With several servers, the maximum number of concurrent jobs that wait for all of them: for each server, and in total. */
const maxSpreadJobs = 2;

/** Starts the queue, the relays that fill it, and the maintenance tasks. */
export async function startBackgroundWork(base: Base, domains: Domains): Promise<{ readonly queue: Queue }> {
  const { config, log, lifecycle, resources, database, keys, statistics, tracing } = base;
  const { messaging, push, notifications, webhooks, backups } = domains;
  const jobGroups = [...otherGroups(base, domains), ...messaging.jobGroups(resources.jobs), ...push.jobGroups];
  const onJobStarted = (task: string, waitSeconds: number) => {
    statistics.counters.add('queue.jobs', task);
    statistics.counters.add('queue.latency', task, waitSeconds);
  };
  const queue = lifecycle.add(
    await startQueues(database.shards, { log, groups: jobGroups, connections: resources.jobs, onJobStarted, tracing }),
    (running) => running.stop(),
  );
  lifecycle.add(push.startRelay(), (relay) => relay.stop());
  // Before the first request: a server that is new has no webhook yet, and would record no event.
  await repairEndpointCopies(database).catch((error: unknown) =>
    log.warn({ err: error }, 'webhooks could not be copied to a server'),
  );
  lifecycle.add(webhooks.start(), (sending) => sending.stop());
  lifecycle.add(messaging.startDispatch(), (dispatch) => dispatch.stop());
  const tasks = [
    ...expiryTasks(config.EVENT_RETENTION),
    sessionChangesTask,
    eventFeedTask,
    tombstoneTask,
    ...notifications.retention.tasks,
    ...(keys.ids.length > 1 ? [reencryptionTask(keys)] : []),
  ];
  // The sums and the schemes are in the directory.
  const mainTasks = [...tasks, statisticsTask(database), unusedSchemesTask(database)];
  const tasksOf = (shard: Shard) => {
    const { server } = serverField(database, shard);
    const onSealed = (day: SealedDay) =>
      log.info({ ...day, ...serverField(database, shard) }, 'the audit events of a day were sealed');
    const seal = sealTask(config.EVENT_RETENTION, onSealed, server);
    return shard.name === mainShard ? [...mainTasks, seal] : [endpointCopiesTask(database, shard), ...tasks, seal];
  };
  for (const shard of database.shards) {
    lifecycle.add(startIndexBuild(shard.target, log), (build) => build.stop());
    lifecycle.add(
      startMaintenance(shard, tasksOf(shard), (error) =>
        log.warn({ err: error, ...serverField(database, shard) }, 'expired rows could not be removed'),
      ),
      (maintenance) => maintenance.stop(),
    );
  }
  await backups.start();
  lifecycle.add(
    startImageCleanup({ database, storage: notifications.storage }, (error) =>
      log.warn({ err: error }, 'images could not be cleaned up'),
    ),
    (cleanup) => cleanup.stop(),
  );
  return { queue };
}

/** The jobs that wait for no provider. With several servers, no other job waits for those that need all of them. */
function otherGroups(base: Base, domains: Domains): JobGroup[] {
  const { config, database, resources } = base;
  const { services, messaging } = domains;
  const tasks: JobGroup['tasks'] = {
    'user.next_pin': (job) => services.pinRecoveries.apply((job as { user_id: string }).user_id),
    ...messaging.noticeTasks(showNotice(config.APP_NAME, domains)),
  };
  const concurrency = Math.min(maxOtherJobs, resources.jobs);
  if (database.shards.length === 1) return [{ tasks: { ...tasks, ...spreadTasks(base, domains) }, concurrency }];
  const spreadConcurrency = Math.min(maxSpreadJobs, resources.jobs);
  return [
    { tasks, concurrency },
    { tasks: spreadTasks(base, domains), concurrency: spreadConcurrency },
  ];
}

/** The jobs that need all servers. */
function spreadTasks({ database, signals }: Base, { services, notifications }: Domains): JobGroup['tasks'] {
  const hide: RemoveImageFrom = (tx, id) => services.notifications.change(tx, id, { image_id: null });
  // A job with a claim holds a connection of the directory's server while it waits for the other servers.
  const limit = createConcurrencyLimiter({ concurrency: maxSpreadJobs, maxWaiting: Number.POSITIVE_INFINITY });
  return {
    async 'user.erase'(job) {
      const { user_id: userId } = job as { user_id: string };
      await eraseUser(database, userId, notificationTables, (id) => anonymiseActor(database, id, signals.send));
      await eraseImagesOf({ database, storage: notifications.storage, hide }, userId);
    },
    'push.claim': (job) => limit(() => completeClaim(database, job as Claim)),
    'push.claim_again': (job) => limit(() => repeatClaim(database, job as Claim)),
  };
}

/** Shows notices that are not messages: in the inbox, if it is a channel of notices, and as a push with the same id. */
function showNotice(title: string, { services, messaging, push }: Domains): ShowNotice {
  const { channels } = messaging.notices;
  return async (tx, { id, userId, kind, text, exceptDevice }) => {
    const content = { user_id: userId, notification_type: noticeType, notification_key: kind, description: text };
    const inboxEntry = channels.includes('inbox')
      ? await services.notifications.publishWithoutPush(tx, content)
      : { id, sequence: null };
    if (!channels.includes('push')) return;
    const { id: noticeId, sequence } = inboxEntry;
    await push.pushNotice(tx, { id: noticeId, sequence, userId, kind, title, body: text, exceptDevice });
  };
}
