import { eventColumns, eventFilterExpressions, type StoredEvent, withNames } from '../audit/event-list.js';
import type { ActivityEntry } from '../contract/account/activity.js';
import type { Event } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { bound, sql } from '../database/sql.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { actorForUser, addressForUser } from './export.js';

/** The events: the audit events for operators, and the activity of one user. */
export interface Activity {
  list(request: ListRequest): Promise<Page<Event>>;
  /** The events of one user, who may have been deleted. */
  listOfUser(userId: string, request: ListRequest): Promise<Page<Event>>;
  /** The events of one user for that user: they do not name the operators. */
  listOwn(userId: string, request: ListRequest): Promise<Page<OwnEvent>>;
}

/** An event for its user, before its text is added. */
export type OwnEvent = Omit<ActivityEntry, 'text'>;

/** The filter fields of a user's own list of events. */
export const ownEventFilterFields: FilterFields = {
  id: { kind: 'id' },
  type: { kind: 'key' },
  created_at: { kind: 'time' },
};

const allEvents: ListSource = {
  columns: eventColumns,
  from: sql`events`,
  filterExpressions: eventFilterExpressions,
};

const eventsOf = (userId: string): ListSource => ({
  ...allEvents,
  where: sql`user_id = ${bound(userId)}::uuid`,
});

const ownEventsOf = (userId: string): ListSource => ({
  columns: sql`id, type, ${actorForUser}, ${addressForUser}, data->>'device_id' as device_id, created_at,
            jsonb_strip_nulls(jsonb_build_object(
              'field', data->'field', 'recovers', data->'recovers', 'provider', data->'provider', 'left', data->>'left',
              'fields', (select string_agg(f, ', ') from jsonb_array_elements_text(
                           case jsonb_typeof(data->'fields') when 'array' then data->'fields' else '[]' end) f))) as params`,
  from: sql`events`,
  where: sql`user_id = ${bound(userId)}::uuid`,
});

/** Creates the lists of events. */
export function createActivity(database: Database): Activity {
  const addNames = async (page: Page<StoredEvent>): Promise<Page<Event>> => ({
    ...page,
    items: await withNames(database, page.items),
  });
  return {
    list: async (request) => addNames(await readPage<StoredEvent>(database, allEvents, request)),
    listOfUser: async (userId, request) =>
      addNames(await readPage<StoredEvent>(database.user(userId), eventsOf(userId), request)),
    listOwn: (userId, request) => readPage<OwnEvent>(database.user(userId), ownEventsOf(userId), request),
  };
}
