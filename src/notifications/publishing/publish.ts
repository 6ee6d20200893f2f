import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import { orderedId } from '../../lib/ids.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { Counters } from '../../statistics/counters.js';
import { insertSteps, stepsOf } from '../deliveries/steps.js';
import type { Content } from '../inbox/row.js';
import { contentOf, type PublishedTopic } from './content.js';
import { type OnPart, publishMany } from './publish-many.js';
import { createCommittingInsert, insertIn, publishOne } from './publish-one.js';
import { replaces } from './replace.js';
import {
  type ContentRules,
  type ExactNumbers,
  errorsOfGroups,
  type Item,
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

  /** Publishes one notification to one user without the steps of its category: the caller pushes it in another way. */
  publishWithoutPush(
    tx: Transaction,
    input: NotificationInput,
    options: { readonly isAlwaysShown: boolean },
  ): Promise<Notification>;

  /**
   * Publishes one notification to these users, or to none of them.
   * @param to.topic the topic of a publication, which the users can have chosen for
   * @returns the notifications in the order of the users
   * @throws Problem `validation_failed` with every error
   */
  publishTo(
    tx: Transaction,
    input: NotificationInput,
    to: { readonly userIds: readonly string[]; readonly topic: PublishedTopic | undefined },
  ): Promise<Notification[]>;

  /** The errors for which a notification to any user would be refused. Writes nothing. */
  contentErrors(input: NotificationInput): Promise<FieldError[]>;

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
  /** Called after the commit of notifications that have other steps than a push at once. */
  readonly onSteps?: () => void;
  /** Whether single notifications that are published at the same time share a statement. */
  readonly batching: boolean;
  readonly counters: Counters;
}

/** Reads the categories of items if one is missing: another instance may have created it just now. */
async function knowCategories(handle: Queryable, { categories }: ContentRules, items: readonly Item[]): Promise<void> {
  const names = items.flatMap(({ input }) => input.category ?? []);
  if (names.length > 0) await categories.refreshFor(handle, names);
}

const stepsOfItem = ({ categories }: ContentRules, { input }: Item) =>
  stepsOf(categories.get(input.category ?? input.notification_type));

/** Whether an item has one push at once and nothing later. */
function hasOnePush(rules: ContentRules, item: Item): boolean {
  const { pushesAtOnce, later } = stepsOfItem(rules, item);
  return pushesAtOnce && later.length === 0;
}

/**
 * Creates the functions that publish. A request with one notification for one user takes `publishOne` of
 * `publish-one.ts`, and every other request `publishMany` of `publish-many.ts`.
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const { database, onChanged, onPublished, onSteps, batching, counters, ...content } = options;
  const rules = { ...content, pushes: onPublished !== undefined };
  const insertAndCommit = createCommittingInsert(database, rules, batching);

  /** Signals committed notifications to streams, caches and the push relay. */
  function signalCommitted(notifications: readonly Notification[], { pushes }: PublishRules): void {
    counters.add('notifications.published', '', notifications.length);
    onChanged(notifications.map(({ user_id }) => user_id));
    if (pushes) onPublished?.();
  }

  /** Publishes items with the steps of their categories. Most have one push at once, which costs no further statement. */
  async function publishWithSteps(tx: Transaction, items: readonly Item[], onPart?: OnPart): Promise<Notification[]> {
    await knowCategories(tx, rules, items);
    if (items.every((item) => hasOnePush(rules, item))) return publish(tx, rules, items, onPart);
    const arePushed = items.every((item) => stepsOfItem(rules, item).pushesAtOnce);
    const notifications = await publish(tx, { ...rules, pushes: rules.pushes && arePushed }, items, onPart);
    const steps = items.flatMap((item) => item.deliveries.map(() => stepsOfItem(rules, item)));
    const inserted = notifications.flatMap(({ user_id: userId, id, created_at: publishedAt }, index) => {
      const own = steps[index];
      return own === undefined ? [] : [{ userId, id, publishedAt, steps: own }];
    });
    await insertSteps(tx, inserted, { pushes: rules.pushes && !arePushed });
    tx.onCommit(() => {
      if (rules.pushes && !arePushed) onPublished?.();
      onSteps?.();
    });
    return notifications;
  }

  async function publish(
    tx: Transaction,
    rules: PublishRules,
    items: readonly Item[],
    onPart?: OnPart,
  ): Promise<Notification[]> {
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
    publish: (tx, request, numbers = [], onPart) => publishWithSteps(tx, readItems(request, numbers), onPart),
    async publishOne(request, numbers = []) {
      const item = readItem(request, numbers[0]);
      const user = database.user(item.deliveries[0]?.userId ?? '');
      await knowCategories(user, rules, [item]);
      if (!hasOnePush(rules, item)) {
        const [notification] = await user.transaction((tx) => publishWithSteps(tx, [item]));
        if (notification === undefined) throw new Error('one notification was published, and none was returned');
        return notification;
      }
      const showsImage = (request.image_id ?? request.image ?? null) !== null;
      const notification =
        showsImage || replaces(item)
          ? await user.transaction((tx) => publishOne(tx, rules, item, insertIn(tx, rules)))
          : await publishOne(database, rules, item, insertAndCommit);
      signalCommitted([notification], rules);
      return notification;
    },
    async publishWithoutPush(tx, input, { isAlwaysShown }) {
      // The category may want data that this service does not have.
      const known = { ...rules.categories, dataErrors: () => [], ...(isAlwaysShown && { isHidden: () => null }) };
      const [notification] = await publish(tx, { ...rules, pushes: false, categories: known }, readItems(input, []));
      if (notification === undefined) throw new Error('one notification was published, and none was returned');
      return notification;
    },
    publishTo(tx, input, { userIds, topic }) {
      const deliveries = userIds.map((userId, place) => ({ userId, place }));
      return publishWithSteps(tx, [{ input, path: '', deliveries, topic }]);
    },
    async contentErrors(input) {
      const item = { ...readItem(input, undefined), deliveries: [] };
      const [errors = []] = await errorsOfGroups(database, [[item]], rules);
      // The item has no user.
      return errors.filter(({ field }) => field !== 'user_id');
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
