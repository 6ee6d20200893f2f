import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Database, Transaction } from '../../database/database.js';
import type { FieldError } from '../../lib/problem.js';
import type { Counters } from '../../statistics/counters.js';
import type { ContentRules } from './content.js';
import { type OnPart, type PlannedNotification, planNotifications, publish, validateEach } from './publish.js';
import { createOnePublisher } from './publish-one.js';
import type { ExactNumbers, PublishRequest } from './validation.js';

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

/** Creates the functions that publish one notification or many. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { database, onChanged: changed, onPublished: published, batching, counters, ...content } = options;
  const rules = { ...content, pushes: published !== undefined };
  const publishAlone = createOnePublisher(database, rules, batching);
  /** Signals committed notifications to streams, caches and the push relay. */
  const signalCommitted = (notifications: readonly Notification[], isPushed: boolean) => {
    counters.add('notifications.published', '', notifications.length);
    changed(notifications.map(({ user_id }) => user_id));
    if (isPushed) published?.();
  };
  return {
    async publish(tx, request, numbers = [], onPart) {
      const notifications = await publish(tx, rules, request, numbers, onPart);
      tx.onCommit(() => signalCommitted(notifications, true));
      return notifications;
    },
    async publishOne(request, numbers = []) {
      const notification = await publishAlone(request, numbers);
      signalCommitted([notification], true);
      return notification;
    },
    async publishWithoutPush(tx, input) {
      const [notification] = await publish(tx, { ...rules, pushes: false }, input, []);
      if (notification === undefined) throw new Error('one notification was published, and none was returned');
      tx.onCommit(() => signalCommitted([notification], false));
      return notification;
    },
    validateEach: (requests, numbers) => validateEach(database, rules, requests, numbers),
    planNotifications: (request, numbers = []) => planNotifications(database, rules, request, numbers),
  };
}
