import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ensureFirstKey } from './authentication/api-keys.js';
import type { ShowNotice } from './authentication/messages/notice-sending.js';
import type { NextPins } from './authentication/secrets/next-pin.js';
import { unusedSchemesChore } from './authentication/secrets/password-schemes.js';
import { createPasswordHasher } from './authentication/secrets/passwords.js';
import { sessionChangesChore } from './authentication/session-changes.js';
import { heldSession } from './authentication/sessions.js';
import { eraseUser } from './authentication/users/erase.js';
import { banner } from './banner.js';
import type { Config } from './config.js';
import { startChores } from './database/chores.js';
import { createDatabase, type Database } from './database/database.js';
import { expiryChores } from './database/expiry.js';
import { migrate } from './database/migrate.js';
import { openTarget } from './database/open.js';
import { readSecretKeys } from './database/secret-key-file.js';
import { type Signals, startSignals } from './database/signals.js';
import { countUnreadable, describeAllUnreadable } from './database/unreadable.js';
import { createImageDisk } from './delivery/image-disk.js';
import { createOutbound } from './delivery/outbound.js';
import { type Line, startQueue } from './delivery/queue.js';
import type { App } from './http/route.js';
import type { Services } from './http/routes.js';
import { buildServer } from './http/server.js';
import { createPacer } from './lib/pacing.js';
import { createSecretKeys } from './lib/secret-keys.js';
import { createLog, type Logger } from './log.js';
import { loadConfiguredPlugins } from './main-authenticators.js';
import { createFactorParts } from './main-factors.js';
import { createMessageParts, type MessageParts } from './main-messages.js';
import { createBreachedPasswords } from './main-passwords.js';
import { createPushParts, type PushParts } from './main-push.js';
import { createServices } from './main-services.js';
import { blankActor } from './notifications/blank-actor.js';
import { startCleaning } from './notifications/images/cleaning.js';
import { eraseImagesOf, type HideImage } from './notifications/images/erase.js';
import type { ImageStorage } from './notifications/images/storage.js';
import { createImageUrls } from './notifications/images/url.js';
import type { Notifications } from './notifications/notifications.js';
import { noticeType } from './notifications/push/notice.js';
import { type RetentionRule, startRetention } from './notifications/retention.js';
import type { StreamTimes } from './notifications/stream/stream.js';
import { createStreams } from './notifications/stream/streams.js';
import { notificationTables } from './notifications/tables.js';
import { tombstoneChore } from './notifications/tombstones.js';
import { type Share, shareOf } from './share.js';
import { version } from './version.js';

/** A Postern that runs. */
export interface Postern {
  /** Where it listens. */
  readonly url: string;
  /** What a person wants to know now: the address, where the first API key is, what to try. */
  readonly banner: string;
  readonly app: App;
  readonly services: Services;
  readonly database: Database;
  /** Drains: answers what is in flight, then stops everything in reverse. Safe to call twice. */
  close(): Promise<void>;
}

export interface StartOptions {
  readonly log?: Logger;
  /** Where codes are printed by the console provider, and whether a person is looking. */
  readonly print?: (line: string) => void;
  readonly isTerminal?: boolean;
  /** For tests, which do not want to wait as long as a service does. */
  readonly streamTimes?: Partial<StreamTimes>;
}

/** Where instances tell each other of users in whose inboxes something is new. */
const inboxChannel = 'postern_inboxes';
/** Encrypted values of each kind that a start looks at: enough to notice that a key is missing. */
const unreadableLookedAt = 1000;
/** Jobs at a time that wait for no provider. */
const otherJobs = 4;

/**
 * The composition root: configuration, database, services, HTTP. What was started is stopped in reverse, also when a
 * later part fails to start.
 */
export async function startPostern(config: Config, options: StartOptions = {}): Promise<Postern> {
  const log = options.log ?? createLog(config.LOG_LEVEL);
  log.info({ version, node: process.version }, 'Postern starts');
  const print = options.print ?? ((line: string) => void process.stdout.write(`${line}\n`));
  const share = shareOf(config.WORKERS);
  const running: (() => Promise<void>)[] = [];
  const started = <T>(part: T, stop: (part: T) => Promise<void>): T => {
    running.push(() => stop(part));
    return part;
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= stopAll(running, log);
    return closing;
  };

  try {
    const outbound = started(
      createOutbound({ allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS }),
      (calls) => calls.close(),
    );
    const { plugins } = started(await loadConfiguredPlugins(config, outbound, log), (loaded) => loaded.close());
    const { target } = started(await openTarget(config, log), (open) => open.close());
    const applied = await migrate(target);
    if (applied.length > 0) log.info({ migrations: applied }, 'the schema was brought up to date');
    const keys = createSecretKeys(await readSecretKeys(config));
    const onConnectionError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
    const database = started(createDatabase({ target, size: share.connections, onConnectionError }), (pool) =>
      pool.close(),
    );
    const unreadable = await countUnreadable(database, keys, unreadableLookedAt);
    if (unreadable.length > 0)
      log.error({ unreadable }, `${describeAllUnreadable(unreadable)}; see \`postern doctor\``);
    const retention = started(
      await startRetention(database, retentionRules(config), (error) =>
        log.warn({ err: error }, 'the time could not be read that notifications are kept from'),
      ),
      (part) => part.stop(),
    );
    const firstKey = await ensureFirstKey({
      database,
      dataDir: config.DATA_DIR,
      isTerminal: options.isTerminal ?? false,
      ...(config.ADMIN_API_KEY === undefined ? {} : { environmentKey: config.ADMIN_API_KEY.reveal() }),
    });
    // Known once it listens, before which nobody asks.
    let ownUrl = '';
    const publicUrl = () => config.PUBLIC_URL ?? ownUrl;
    const imageUrlsOf = createImageUrls(publicUrl);
    const factors = createFactorParts({ config, database, keys, ownUrl: () => ownUrl });
    const storage = createImageDisk({ folder: config.IMAGE_DIR ?? join(config.DATA_DIR, 'images') });
    const pacer = createPacer();
    const signals = started(startSignals({ target, database, channel: inboxChannel, log }), (part) => part.stop());
    const streams = started(
      createStreams({
        ...{ database, imageUrlsOf, heldSession, pacer, log },
        retainedFrom: retention.retainedFrom,
        times: options.streamTimes ?? {},
      }),
      (part) => part.close(),
    );
    signals.onSignal(streams.wake);
    const pushParts = started(await createPushParts({ config, database, outbound, log }), (parts) => parts.close());
    const breached = createBreachedPasswords(
      config,
      (error) => log.warn({ err: error }, 'whether a password was breached could not be looked up'),
      outbound,
    );
    const hasher = createPasswordHasher({
      concurrency: share.hashes,
      queue: share.waitingHashes,
      onThreadLost: (error) => log.warn({ err: error }, 'a thread that hashes passwords was lost or could not begin'),
    });
    const messageParts = await createMessageParts({
      ...{ config, database, keys, outbound, print, log },
      pushes: pushParts.published !== undefined,
    });
    const isClosing = () => closing !== undefined;
    const parts = {
      ...{ config, share, database, hasher, keys, signals, outbound, storage, imageUrlsOf, retention, pacer },
      ...{ messageParts, pushParts, plugins, factors, breached, publicUrl, isClosing },
    };
    const services = { ...createServices(parts), streams };
    const lines = queueLines({
      ...parts,
      notifications: services.notifications,
      pinRecoveries: services.pinRecoveries,
    });
    started(await startQueue({ target, log, lines, connections: share.jobs }), (queue) => queue.stop());
    started(pushParts.startRelay(), (relay) => relay.stop());
    started(messageParts.startDispatch(), (dispatch) => dispatch.stop());
    started(
      startChores(
        database,
        [
          ...expiryChores(config.EVENT_RETENTION),
          ...[sessionChangesChore, unusedSchemesChore, tombstoneChore, ...retention.chores],
        ],
        (error) => log.warn({ err: error }, 'what has expired could not be removed'),
      ),
      (chores) => chores.stop(),
    );
    started(
      startCleaning({ database, storage }, (error) => log.warn({ err: error }, 'images could not be cleaned up')),
      (cleaning) => cleaning.stop(),
    );
    const app = started(
      await buildServer({
        services,
        log,
        version,
        publicUrl: config.PUBLIC_URL,
        corsOrigins: config.CORS_ORIGINS ?? [],
        trustProxy: config.TRUST_PROXY,
      }),
      (server) => server.close(),
    );
    await app.listen({ host: config.HOST, port: config.PORT });
    const url = listeningUrl(config, app);
    ownUrl = url;
    return { url, banner: banner({ url, firstKey }), app, services, database, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The work of the queue. A provider that hangs catches the workers of its own line, and no others. */
function queueLines(parts: {
  readonly config: Config;
  readonly share: Share;
  readonly database: Database;
  readonly signals: Signals;
  readonly storage: ImageStorage;
  readonly notifications: Notifications;
  readonly pinRecoveries: NextPins;
  readonly messageParts: MessageParts;
  readonly pushParts: PushParts;
}): Line[] {
  const { config, share, database, signals, storage, notifications, pinRecoveries, messageParts, pushParts } = parts;
  const hide: HideImage = (tx, id) => notifications.change(tx, id, { image_id: null });
  const erase = async (job: unknown) => {
    const { user_id: userId } = job as { user_id: string };
    await eraseUser(database, userId, notificationTables, (id) => blankActor(database, id, signals.send));
    await eraseImagesOf({ database, storage, hide }, userId);
  };
  const applyPin = (job: unknown) => pinRecoveries.apply((job as { user_id: string }).user_id);
  const show = showNotice(config, notifications, { pushParts, messageParts });
  return [
    {
      tasks: { 'user.erase': erase, 'user.next_pin': applyPin, ...messageParts.noticeTasks(show) },
      concurrency: Math.min(otherJobs, share.jobs),
    },
    ...messageParts.lines(share.jobs),
    ...pushParts.lines,
  ];
}

/** Where notices are seen that are no message: in the inbox, if they may be there, and by push under the same id. */
function showNotice(
  { APP_NAME: title }: Config,
  notifications: Notifications,
  { pushParts, messageParts }: { readonly pushParts: PushParts; readonly messageParts: MessageParts },
): ShowNotice {
  const { channels } = messageParts.notices;
  return async (tx, { id, userId, kind, text, exceptDevice }) => {
    const content = { user_id: userId, notification_type: noticeType, notification_key: kind, description: text };
    const listed = channels.includes('inbox') ? await notifications.note(tx, content) : { id, sequence: null };
    if (!channels.includes('push')) return;
    const { id: shownId, sequence } = listed;
    await pushParts.pushNotice(tx, { id: shownId, sequence, userId, kind, title, body: text, exceptDevice });
  };
}

/** For every type that may be published, how long it is kept; none where it is kept for ever. */
function retentionRules({ NOTIFICATION_TYPES: types, NOTIFICATION_RETENTION: ages = {} }: Config): RetentionRule[] {
  return types.flatMap((type) => {
    const age = ages[type] ?? ages['*'];
    return age === undefined ? [] : [{ type, age }];
  });
}

function listeningUrl({ HOST }: Config, app: App): string {
  const { port } = app.server.address() as AddressInfo;
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${port}`;
}

async function stopAll(running: readonly (() => Promise<void>)[], log: Logger): Promise<void> {
  for (const stop of [...running].reverse()) {
    // One part that fails to stop must not keep the others running.
    await stop().catch((error: unknown) => log.error({ err: error }, 'a part failed to stop'));
  }
}
