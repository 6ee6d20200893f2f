import type { Config } from '../../config/config.js';
import { createImageDownload } from '../../delivery/image-download.js';
import { createSendInbox } from '../../http/lists/notification-list.js';
import type { Services } from '../../http/routes/routes.js';
import type { StreamTimes } from '../../lib/event-stream/connections.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import type { KnownCategories } from '../../notifications/categories/categories.js';
import { createImages } from '../../notifications/images/images.js';
import { createRender } from '../../notifications/images/render.js';
import type { ImageStorage } from '../../notifications/images/storage.js';
import { createImageUrls } from '../../notifications/images/url.js';
import { createExpensiveReadLimit } from '../../notifications/inbox/expensive-reads.js';
import { notificationSections } from '../../notifications/inbox/export.js';
import { createItemStates } from '../../notifications/inbox/item-states.js';
import { createReadPositions, type OnRead } from '../../notifications/inbox/read-position.js';
import { createNotifications } from '../../notifications/notifications.js';
import { type Retention, type RetentionRule, startRetention } from '../../notifications/retention/retention.js';
import { createStreams } from '../../notifications/stream/streams.js';
import { validSession } from '../../sessions/sessions.js';
import type { ExportSection } from '../../users/export.js';
import type { Base } from '../base/base.js';
import { openImageStorage } from '../base/image-storage.js';

/** Notifications with their inbox, streams and images. */
export interface NotificationDomain {
  readonly services: Pick<Services, 'notifications' | 'sendInbox' | 'streams' | 'markers' | 'states' | 'images'>;
  readonly retention: Retention;
  readonly storage: ImageStorage;
  /** The lists of this domain in the export of a user. */
  readonly exportSections: readonly ExportSection[];
}

/**
 * Creates notifications with their inbox, streams and images.
 * @param parts `onPublished` is called after a notification was published and committed, and `onSteps` if it has other steps than
 *   a push at once; `onRead` in the transaction in which a user reads notifications
 */
export async function createNotificationServices(
  base: Base,
  {
    onPublished,
    onSteps,
    onRead,
    limits,
    categories,
  }: {
    readonly onPublished: (() => void) | undefined;
    readonly onSteps: () => void;
    readonly onRead: OnRead | undefined;
    readonly limits: Pick<RequestLimits, 'countOwnStates'>;
    readonly categories: KnownCategories;
  },
  times: {
    readonly streamTimes?: Partial<StreamTimes>;
    readonly imageTimeout?: number;
  },
): Promise<NotificationDomain> {
  const { config, log, lifecycle, resources, outbound, checkUrl, database, signals, pacer, statistics } = base;
  const imageUrlsOf = createImageUrls(base.publicUrl);
  const retention = lifecycle.add(
    await startRetention(database, retentionRules(config), (error) =>
      log.warn({ err: error }, 'the start of the retention of notifications could not be read'),
    ),
    (part) => part.stop(),
  );
  const { retainedFrom } = retention;
  const streams = lifecycle.add(
    createStreams({ database, imageUrlsOf, validSession, pacer, log, retainedFrom, times: times.streamTimes ?? {} }),
    (part) => part.close(),
  );
  signals.onSignal(streams.wake);
  statistics.watchStreams(streams.count);
  // One for lists and changes, because it leaves half of the connections to all other requests.
  const limitExpensive = createExpensiveReadLimit({ connections: resources.connections });
  const notifications = createNotifications({
    database,
    checkUrl,
    imageUrlsOf,
    pacer,
    limitExpensive,
    types: config.NOTIFICATION_TYPES,
    categories,
    batching: config.DATABASE_BATCHING,
    onChanged: signals.send,
    counters: statistics.counters,
    retainedFrom,
    onSteps,
    ...(onPublished && { onPublished: onPublished }),
  });
  const { storage } = lifecycle.add(await openImageStorage(config), (part) => part.close());
  const images = createImages({
    database,
    storage,
    render: createRender(),
    urls: imageUrlsOf,
    download: createImageDownload(outbound, checkUrl),
    ...(times.imageTimeout !== undefined && { timeoutMs: times.imageTimeout }),
  });
  const markers = createReadPositions(database, signals.send, onRead);
  const states = createItemStates({
    database,
    filterFields: notifications.filterFields,
    limitExpensive,
    countChange: limits.countOwnStates,
    onChanged: signals.send,
    onRead,
  });
  return {
    services: {
      notifications,
      sendInbox: createSendInbox(notifications),
      streams,
      markers,
      states,
      images,
    },
    retention,
    storage,
    exportSections: notificationSections(database, imageUrlsOf),
  };
}

/** The retention of each type that can be published. A type without a rule is kept without limit. */
function retentionRules({ NOTIFICATION_TYPES: types, NOTIFICATION_RETENTION: ages = {} }: Config): RetentionRule[] {
  return types.flatMap((type) => {
    const age = ages[type] ?? ages['*'];
    return age === undefined ? [] : [{ type, age }];
  });
}
