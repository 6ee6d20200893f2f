import type { Event } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { type ListRequest, type Page, readPage } from './listing.js';

/** What happened: the operator's audit trail, and one user's activity. */
export interface Activity {
  list(request: ListRequest): Promise<Page<Event>>;
  /** Of one user, who may have been deleted. */
  ofUser(userId: string, request: ListRequest): Promise<Page<Event>>;
}

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

const events = {
  columns: 'id, user_id, type, actor, host(address) as address, request_id, data, created_at',
  from: 'events',
};

export function createActivity(database: Database): Activity {
  return {
    list: (request) => readPage<Event>(database, events, request),
    ofUser: (userId, request) =>
      readPage<Event>(database, { ...events, where: 'user_id = $1', values: [userId] }, request),
  };
}
