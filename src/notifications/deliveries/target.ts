import type { Category } from '../../contract/category.js';
import type { Database, Queryable } from '../../database/database.js';
import type { KnownCategories } from '../categories/categories.js';
import type { Attempt, DeliveryRow, End } from './attempt.js';
import { limitsOf } from './caps.js';
import { decide, type Hold, type Join } from './decide.js';
import { type DigestContent, readDigest } from './digest-mail.js';
import { type AddressFacts, factsOf, lifetime, plainAddress, type ReadAddresses } from './facts.js';
import type { MessageChannel } from './queue.js';

/** What a message that is sent needs. */
export interface Target {
  readonly category: Category;
  /** Null: the message is about one notification. */
  readonly digest: DigestContent | null;
  readonly to: string;
  /** The time after which the message is not sent, in milliseconds of Unix time. */
  readonly expiresAt: number;
}

/**
 * The facts about a digest. It is sent if the user has not read at least one of its notifications, and wants mails about at least one of
 * the unread ones.
 */
const digestRow = (row: DeliveryRow, { unread, wanted }: DigestContent): DeliveryRow => ({
  ...row,
  is_there: true,
  is_expired: false,
  is_hidden: false,
  is_read: unread === 0,
  category: row.digest_category,
  chosen_category: wanted === 0 ? 'off' : 'digest',
  chosen_topic: null,
});

/** Creates the decision about an attempt: where its message goes, or why it is not sent now. It reads all data again, because it may have changed. */
export function createTargets({
  database,
  categories,
  readAddresses,
  ttl,
}: {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
  readonly readAddresses: ReadAddresses;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: Readonly<Record<MessageChannel, number>>;
}): (attempt: Attempt) => Promise<End | Hold | Join | Target> {
  async function addressFacts(
    handle: Queryable,
    channel: MessageChannel,
    address: string | null,
  ): Promise<AddressFacts> {
    if (address === null) return plainAddress;
    return (await readAddresses(handle, channel, [address])).get(address) ?? plainAddress;
  }

  return async ({ channel, job: { user_id: userId }, row: stored }) => {
    const user = database.user(userId);
    const name = stored.digest_category ?? stored.category ?? '';
    if (name !== '') await categories.refreshFor(user, [name]);
    const category = categories.get(name);
    const { member_ids: ids } = stored;
    const digest = ids && (await readDigest(user, userId, { ids, name, category }));
    const row = digest === null ? stored : digestRow(stored, digest);
    const { condition, age, held, was_handed_over: wasHandedOver, quiet_until: quietUntil } = row;
    const step = { userId, notificationId: row.notification_id, channel };
    const limits =
      digest !== null || wasHandedOver ? { isDigest: digest !== null } : await limitsOf(user, step, category);
    const decision = decide(
      factsOf(row, await addressFacts(user, channel, row.address), {
        channel,
        condition,
        wasHandedOver,
        age: age - held,
        ttl: ttl[channel],
        categories,
        quietUntil,
        limits,
      }),
    );
    if (decision.state !== 'send') return decision;
    // `decide` has refused it.
    if (category === undefined || row.address === null) return { state: 'dropped', reason: 'category_deleted' };
    const expiresAt = Date.parse(row.created_at) + held * 1000 + lifetime(category.ttl, ttl[channel]);
    return { category, to: row.address, digest, expiresAt };
  };
}
