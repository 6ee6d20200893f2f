import { request } from '../../api/client.js';
import type { AuditEvent, GetEventPageData, GetEventPageResponse } from '../../api/schema.js';
import { csvLine } from '../../lib/csv.js';
import { filterValue } from '../../lib/filter-value.js';

/** The filters in the URL of the page. */
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

/** The filter of the service. */
export function filterOf(search: AuditSearch): string {
  const equalities = fields.flatMap(([name, field]) => {
    const value = search[name];
    return value === undefined ? [] : [`${field}:eq:${filterValue(value)}`];
  });
  const timeClauses = (operator: string, text: string | undefined) =>
    text === undefined || Number.isNaN(Date.parse(text))
      ? []
      : [`created_at:${operator}:${new Date(text).toISOString().replaceAll(':', '\\:')}`];
  return [...equalities, ...timeClauses('gte', search.from), ...timeClauses('lt', search.to)].join(',');
}

interface ReadOptions {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly sort?: string;
  readonly signal?: AbortSignal;
}

export function readEvents(
  filter: string,
  { signal, cursor, ...otherParameters }: ReadOptions,
): Promise<GetEventPageResponse> {
  const query = { ...otherParameters, filter, cursor };
  return request<GetEventPageData, GetEventPageResponse>('GET', '/admin/v1/events/page', { query, signal });
}

const columns = [
  'created_at',
  'type',
  'user_id',
  'user_name',
  'actor',
  'actor_name',
  'address',
  'request_id',
  'id',
  'changes',
  'data',
] as const;

const writers = {
  csv: {
    type: 'text/csv',
    head: `${csvLine(columns)}\r\n`,
    line: (event: AuditEvent) => `${csvLine(columns.map((name) => Reflect.get(event, name)))}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    head: '',
    line: (event: AuditEvent) => `${JSON.stringify(event)}\n`,
  },
};

/** The number of pages whose text becomes one Blob. A browser may keep Blobs outside its memory. */
const pagesPerBlob = 50;

/**
 * A file of all events that match, the newest first.
 * @param onProgress called with the part of the time span that was read, from 0 to 1, and with the number of events
 */
export async function exportEvents(
  filter: string,
  kind: keyof typeof writers,
  onProgress: (part: number, count: number) => void,
  signal: AbortSignal,
): Promise<{ readonly file: Blob; readonly count: number }> {
  const { type, head, line } = writers[kind];
  const oldest = await readEvents(filter, { limit: 1, sort: 'created_at:asc', signal });
  const end = timeOf(oldest.data[0]);
  let start: number | undefined;
  let cursor: string | undefined;
  let count = 0;
  let text = head;
  const parts: Blob[] = [];
  for (let pages = 1; ; pages += 1) {
    const { data, page } = await readEvents(filter, { cursor, limit: 100, signal });
    text += data.map(line).join('');
    count += data.length;
    start ??= timeOf(data[0]);
    onProgress(start <= end ? 1 : Math.min(1, (start - timeOf(data.at(-1))) / (start - end)), count);
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined && pages % pagesPerBlob !== 0) continue;
    parts.push(new Blob([text]));
    text = '';
    if (cursor === undefined) return { file: new Blob(parts, { type }), count };
  }
}

const timeOf = (event: AuditEvent | undefined) => (event === undefined ? 0 : Date.parse(event.created_at));
