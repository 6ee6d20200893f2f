import type { ActivityEntry } from '../../contract/account.js';
import type { Event } from '../../contract/administration.js';
import type { Database } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { type ListRequest, type Page, readPage } from '../listing.js';
import { ownAddress, whoseAct } from '../users/export.js';

/** What happened: the operator's audit trail, and one user's activity. */
export interface Activity {
  list(request: ListRequest): Promise<Page<Event>>;
  /** Of one user, who may have been deleted. */
  ofUser(userId: string, request: ListRequest): Promise<Page<Event>>;
  /** The same as the user may see it: nothing of who acts for the operator. */
  ofOneself(userId: string, request: ListRequest): Promise<Page<OwnEvent>>;
}

/** Something that happened, yet without its text; `params` are for its placeholders. */
export type OwnEvent = Omit<ActivityEntry, 'text'> & { readonly params: Readonly<Record<string, string>> };

/** What events can be listed by. */
export const eventFilterFields: FilterFields = {
  id: { kind: 'id' },
  user_id: { kind: 'id' },
  type: { kind: 'key' },
  actor: { kind: 'key' },
  address: { kind: 'key', column: 'host(address)' },
  request_id: { kind: 'key' },
  created_at: { kind: 'time' },
};

/** What one's own events can be listed by. */
export const ownEventFilterFields: FilterFields = {
  id: { kind: 'id' },
  type: { kind: 'key' },
  created_at: { kind: 'time' },
};

const ownEvents = {
  columns: `id, type, ${whoseAct}, ${ownAddress}, data->>'device_id' as device_id, created_at,
            jsonb_strip_nulls(jsonb_build_object(
              'field', data->'field', 'recovers', data->'recovers', 'provider', data->'provider', 'left', data->>'left',
              'fields', (select string_agg(f, ', ') from jsonb_array_elements_text(
                           case jsonb_typeof(data->'fields') when 'array' then data->'fields' else '[]' end) f))) as params`,
  from: 'events',
  where: 'user_id = $1',
};

const events = {
  columns: 'id, user_id, type, actor, host(address) as address, request_id, data, created_at',
  from: 'events',
};

export function createActivity(database: Database): Activity {
  return {
    list: (request) => readPage<Event>(database, events, request),
    ofOneself: (userId, request) => readPage<OwnEvent>(database, { ...ownEvents, values: [userId] }, request),
    ofUser: (userId, request) =>
      readPage<Event>(database, { ...events, where: 'user_id = $1', values: [userId] }, request),
  };
}
