import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Database, Transaction } from '../../database/database.js';
import { orderedId } from '../../lib/ids.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { Counters } from '../../statistics/counters.js';
import type { Content } from '../inbox/row.js';
import { contentOf } from './content.js';
import { type OnPart, publishMany } from './publish-many.js';
import { createCommittingInsert, insertIn, publishOne } from './publish-one.js';
import { replaces } from './replace.js';
import {
  type ContentRules,
  type ExactNumbers,
  errorsOfGroups,
  type PublishRequest,
  type PublishRules,
  readItem,
  readItems,
} from './validation.js';

/** A notification that publishing would create. */
export interface PlannedNotification {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/**
 * Publishes notifications. Each method validates a request, numbers and inserts its notifications, signals them after
 * the commit, and returns them. If a method that has the parameter `tx` throws, the caller must let this transaction
 * fail.
 */
export interface Publisher {
  /**
   * Publishes every notification of a request, or none.
   * @param numbers the result of `exactNumbers` for the request's text
   * @param onPart called with each part while the database inserts
   * @returns the notifications in the order of the request's items, and for each item in the order of its `user_ids`
   * @throws Problem `validation_failed` with every error. If `request` is an array, the field names begin with the
   *   item's index
   */
  publish(tx: Transaction, request: PublishRequest, numbers?: ExactNumbers, onPart?: OnPart): Promise<Notification[]>;

  /**
   * Publishes one notification to one user. Resolves after the commit.
   * @throws Problem `validation_failed` with every error
   */
  publishOne(request: NotificationInput, numbers?: ExactNumbers): Promise<Notification>;

  /** Publishes one notification to one user without pushing it: the caller pushes it in another way. */
  publishWithoutPush(tx: Transaction, input: NotificationInput): Promise<Notification>;

  /** The errors for which `publish` would refuse each of these requests if it were sent alone. Writes nothing. */
  validateEach(requests: readonly NotificationInput[], numbers: ExactNumbers): Promise<FieldError[][]>;

  /** The notifications that `publish` would create, after the same checks. Writes nothing. @throws Problem `validation_failed` */
  planNotifications(request: PublishRequest, numbers?: ExactNumbers): Promise<PlannedNotification[]>;
}

export interface PublisherOptions extends ContentRules {
  readonly database: Database;
  /** Called after the commit with the users whose inboxes changed. */
  readonly onChanged: (userIds: readonly string[]) => void;
  /** Called after the commit, so that the push fan-out runs. If it is absent, nothing is pushed. */
  readonly onPublished?: () => void;
  /** Whether single notifications that are published at the same time share a statement. */
  readonly batching: boolean;
  readonly counters: Counters;
}

/**
 * Creates the functions that publish. A request with one notification for one user takes `publishOne` of
 * `publish-one.ts`, and every other request `publishMany` of `publish-many.ts`.
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const { database, onChanged, onPublished, batching, counters, ...content } = options;
  const rules = { ...content, pushes: onPublished !== undefined };
  const insertAndCommit = createCommittingInsert(database, rules, batching);

  /** Signals committed notifications to streams, caches and the push relay. */
  function signalCommitted(notifications: readonly Notification[], { pushes }: PublishRules): void {
    counters.add('notifications.published', '', notifications.length);
    onChanged(notifications.map(({ user_id }) => user_id));
    if (pushes) onPublished?.();
  }

  async function publish(
    tx: Transaction,
    rules: PublishRules,
    request: PublishRequest,
    numbers: ExactNumbers,
    onPart?: OnPart,
  ): Promise<Notification[]> {
    const items = readItems(request, numbers);
    const [item, ...others] = items;
    let notifications: Notification[];
    if (item !== undefined && others.length === 0 && item.deliveries.length === 1) {
      notifications = [await publishOne(tx, rules, item, insertIn(tx, rules))];
      onPart?.(notifications);
    } else notifications = await publishMany(tx, rules, items, onPart);
    tx.onCommit(() => signalCommitted(notifications, rules));
    return notifications;
  }

  return {
    publish: (tx, request, numbers = [], onPart) => publish(tx, rules, request, numbers, onPart),
    async publishOne(request, numbers = []) {
      const item = readItem(request, numbers[0]);
      const handle = database.user(item.deliveries[0]?.userId ?? '');
      const showsImage = (request.image_id ?? request.image ?? null) !== null;
      const notification =
        showsImage || replaces(item)
          ? await handle.transaction((tx) => publishOne(tx, rules, item, insertIn(tx, rules)))
          : await publishOne(database, rules, item, insertAndCommit);
      signalCommitted([notification], rules);
      return notification;
    },
    async publishWithoutPush(tx, input) {
      const [notification] = await publish(tx, { ...rules, pushes: false }, input, []);
      if (notification === undefined) throw new Error('one notification was published, and none was returned');
      return notification;
    },
    validateEach(requests, numbers) {
      const groups = requests.map((input, index) => [readItem(input, numbers[index])]);
      return errorsOfGroups(database, groups, rules);
    },
    async planNotifications(request, numbers = []) {
      const items = readItems(request, numbers);
      const [errors = []] = await errorsOfGroups(database, [items], rules);
      throwIfErrors(errors);
      return items.flatMap((item) => {
        const content = contentOf(item, new Map(), rules.categories);
        return item.deliveries.map(({ userId }) => ({ id: orderedId(), userId, content }));
      });
    },
  };
}
