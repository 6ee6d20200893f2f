import type { DryRun } from '../../contract/push.js';
import { type Database, prepared } from '../../database/database.js';
import type { WouldBe } from '../publish.js';
import { type PushOptions, planPushes } from './plan.js';

/** Items that a dry run shows. */
const maxItems = 100;

const readClock = prepared('clock', 'select db_now() as now');

/** Who would get these, and where; nothing is written. */
export async function dryRun(database: Database, options: PushOptions, wouldBe: readonly WouldBe[]): Promise<DryRun> {
  const planned = await planPushes(database, options, wouldBe, async (items) => {
    const [clock] = await database.query<{ now: string }>(readClock);
    const now = clock?.now ?? '';
    return new Map(
      items.map(({ id, userId, content }) => [
        id,
        {
          ...content,
          ...{ id, user_id: userId, created_at: now, updated_at: now },
          object_data_number: content.object_data_number === null ? null : Number(content.object_data_number),
        },
      ]),
    );
  });
  const push = { apns: 0, fcm: 0, web_push: 0, muted: 0 };
  for (const { channel, muted } of planned.flat()) push[muted ? 'muted' : channel] += 1;
  const items = wouldBe.slice(0, maxItems).map(({ userId, content }, index) => ({
    user_id: userId,
    notification_type: content.notification_type,
    description: content.description,
    inbox: true,
    push: (planned[index] ?? []).map(({ device_id, channel, muted }) => ({ device_id, channel, muted })),
  }));
  return { deliveries: wouldBe.length, push, items };
}
