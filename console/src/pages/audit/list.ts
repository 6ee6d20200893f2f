import { request } from '../../api/client.js';
import type { AuditEvent, GetEventPageData, GetEventPageResponse } from '../../api/schema.js';
import { csvLine } from '../../lib/csv.js';

/** What the page has in its URL. */
export interface AuditSearch {
  readonly type?: string;
  readonly user?: string;
  readonly actor?: string;
  readonly address?: string;
  readonly request?: string;
  readonly from?: string;
  readonly to?: string;
}

const fields = [
  ['type', 'type'],
  ['user', 'user_id'],
  ['actor', 'actor'],
  ['address', 'address'],
  ['request', 'request_id'],
] as const;

/** The filter of the service. Commas and the like in a value are escaped. */
export function filterOf(search: AuditSearch): string {
  const equal = fields.flatMap(([name, field]) => {
    const value = search[name];
    return value === undefined ? [] : [`${field}:eq:${value.replaceAll(/[\\,|;:]/g, '\\$&')}`];
  });
  const time = (operator: string, text: string | undefined) =>
    text === undefined || Number.isNaN(Date.parse(text))
      ? []
      : [`created_at:${operator}:${new Date(text).toISOString().replaceAll(':', '\\:')}`];
  return [...equal, ...time('gte', search.from), ...time('lt', search.to)].join(',');
}

export function readEvents(
  filter: string,
  { cursor, limit, signal }: { cursor?: string | undefined; limit: number; signal?: AbortSignal },
): Promise<GetEventPageResponse> {
  const query = { limit, ...(filter !== '' && { filter }), ...(cursor !== undefined && { cursor }) };
  return request<GetEventPageData, GetEventPageResponse>('GET', '/admin/v1/events/page', { query, signal });
}

/** Events of one export. */
export const mostExported = 10_000;

/** All events that match, the newest first, up to `mostExported`. @param onProgress called with the number so far */
export async function readAllEvents(filter: string, onProgress: (count: number) => void, stop: AbortSignal) {
  const all: AuditEvent[] = [];
  let cursor: string | undefined;
  do {
    const { data, page } = await readEvents(filter, { cursor, limit: 100, signal: stop });
    all.push(...data);
    cursor = page.next_cursor ?? undefined;
    onProgress(all.length);
  } while (cursor !== undefined && all.length < mostExported);
  return all;
}

const columns = ['created_at', 'type', 'user_id', 'actor', 'address', 'request_id', 'id', 'data'] as const;

export function csvOf(events: readonly AuditEvent[]): string {
  const lines = events.map((event) => csvLine(columns.map((name) => event[name])));
  return [csvLine(columns), ...lines].join('\r\n');
}

export const ndjsonOf = (events: readonly AuditEvent[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
