import type { Event } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { sql, statement, unprepared } from '../database/sql.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { nilId } from '../lib/ids.js';

/** An event as it is stored: it has ids, but no names. */
export type StoredEvent = Omit<Event, 'user_name' | 'actor_name'>;

/** The filter fields of the operators' lists of events. */
export const eventFilterFields: FilterFields = {
  id: { kind: 'id' },
  user_id: { kind: 'id' },
  type: { kind: 'key' },
  actor: { kind: 'key' },
  address: { kind: 'key' },
  request_id: { kind: 'key' },
  created_at: { kind: 'time' },
};

/** SQL: the columns of `StoredEvent`. */
export const eventColumns = sql`
  id, user_id, type, actor, host(address) as address, request_id, data - 'changes' as data,
  coalesce(data->'changes', '[]') as changes, created_at`;

/** SQL of the filter fields that are not columns with the same name. */
export const eventFilterExpressions = { address: sql`host(address)` };

/** A user, and the time of an event: the event shows the name that the user had then. */
interface UserAtTime {
  readonly id: string;
  readonly at: string;
}

/** A deleted user has no row in `users`, so the name is null even before the job that erases the former names has run. */
const selectUserNames = unprepared(
  statement<{ ids: readonly string[]; times: readonly string[] }, { nth: number; name: string }>(
    'event_user_names',
    (p) => sql`
    select asked.nth::int, coalesce(former.name, user_display_name(u.name, u.username, u.email, u.phone)) as name
    from unnest(${p.ids}::uuid[], ${p.times}::timestamptz[]) with ordinality as asked (id, at, nth)
      join users u on u.id = asked.id
      left join lateral (
        select name from former_names where user_id = asked.id and until > asked.at order by until limit 1) former on true`,
  ),
);

const selectKeyNames = unprepared(
  statement<{ ids: readonly string[] }, { id: string; name: string }>(
    'event_key_names',
    (p) => sql`select id, name from api_keys where id = any(${p.ids}::uuid[])`,
  ),
);

/** Adds the names of users at the time of each event, and of API keys. Names of deleted users are null. */
export async function withNames(database: Database, events: readonly StoredEvent[]): Promise<Event[]> {
  const [nameOfUser, nameOfKey] = await Promise.all([userNames(database, events), keyNames(database, events)]);
  return events.map((event) => {
    const user_name = nameOfUser(event.user_id, event.created_at);
    // `user` (the user of the event), `user:{id}`, `key:{id}`, or a part of the service, which has no name.
    const [kind, id = ''] = event.actor.split(':');
    const actor_name =
      kind === 'key' ? nameOfKey(id) : event.actor === 'user' ? user_name : nameOfUser(id, event.created_at);
    return { ...event, user_name, actor_name };
  });
}

async function userNames(database: Database, events: readonly StoredEvent[]) {
  const keyOf = ({ id, at }: UserAtTime) => `${id} ${at}`;
  const usersAtTimes = new Map<string, UserAtTime>();
  for (const { user_id, actor, created_at: createdAt } of events) {
    const ids = actor.startsWith('user:') ? [user_id, actor.slice(5)] : [user_id];
    for (const id of ids) if (id !== nilId) usersAtTimes.set(keyOf({ id, at: createdAt }), { id, at: createdAt });
  }
  const names = new Map<string, string>();
  const all = [...usersAtTimes.values()];
  if (all.length > 0) {
    const values = { ids: all.map(({ id }) => id), times: all.map(({ at }) => at) };
    for (const { nth, name } of await database.query(selectUserNames(values))) {
      const found = all[nth - 1];
      if (found !== undefined) names.set(keyOf(found), name);
    }
  }
  return (id: string, createdAt: string) => names.get(keyOf({ id, at: createdAt })) ?? null;
}

/** A revoked key keeps its row. ADMIN_API_KEY has none. */
async function keyNames(database: Database, events: readonly StoredEvent[]) {
  const ids = new Set(events.flatMap(({ actor }) => (/^key:[0-9a-f-]{36}$/.test(actor) ? [actor.slice(4)] : [])));
  const rows = ids.size === 0 ? [] : await database.query(selectKeyNames({ ids: [...ids] }));
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (id: string) => names.get(id) ?? null;
}
