import { arrayText } from '../../database/array-text.js';
import { type Database, prepared, type Statement, sql } from '../../database/database.js';
import { Problem } from '../../lib/problem.js';
import type { Instant } from '../../lib/times.js';
import { isLost } from '../changes.js';
import type { NotificationSort } from '../cursor.js';
import { boundsOf } from '../list-queries.js';
import type { Stream } from './stream.js';

/**
 * SQL of a lateral subquery with the column `expires_at`: a session, if it holds right now, by the names of the columns
 * that hold the ids of its user and of itself. Given from outside, since this module knows nothing of logins.
 */
export type HeldSession = (userId: string, sessionId: string) => string;

type SortField = NotificationSort['field'];

/** Where a stream begins: behind an id of an earlier one, behind a time, or now. */
export type StreamStart =
  | { readonly lastEventId: number }
  | { readonly since: Instant; readonly by: SortField }
  | 'now';

/** The beginning of a stream, as it was found. */
export interface Beginning extends Pick<Stream, 'position' | 'history'> {
  /** The client stood where it cannot be told everything any more. */
  readonly isReset: boolean;
  /** Milliseconds until the session ends. */
  readonly remaining: number;
}

/** What is to be done about a stream. */
export interface Finding {
  readonly stream: Stream;
  /** Null: the session does not hold any more. */
  readonly expiresAt: string | null;
  readonly isExpiring: boolean;
  readonly isBehind: boolean;
}

interface HeadRow {
  head: number;
  forgotten: number;
  remaining: number;
}
interface FindingRow {
  nth: number;
  expires_at: string | null;
  is_expiring: boolean;
  is_behind: boolean;
}

export interface StreamQueries {
  /** @throws Problem `invalid_session_token` when the session does not hold */
  begin(ids: Pick<Stream, 'userId' | 'sessionId'>, start: StreamStart): Promise<Beginning>;
  /** Those about which something is to be done, of a thousand streams or so. */
  check(streams: readonly Stream[]): Promise<Finding[]>;
}

/** The last change that is no newer than a time. */
const placeOf = (by: SortField) =>
  prepared(
    `streams_since_${by}`,
    `with recursive head as (select last_change_sequence from inboxes where user_id = $1),
       ${boundsOf(by, '$2::timestamptz')}
     select low as place from bounds where low = high`,
  );
const lastBefore: Record<SortField, Statement> = {
  created_at: placeOf('created_at'),
  updated_at: placeOf('updated_at'),
};

export function createStreamQueries(database: Database, heldSession: HeldSession): StreamQueries {
  const selectHead = prepared(
    'streams_begin',
    `select head.last_change_sequence as head, head.forgotten_change_sequence as forgotten,
            (extract(epoch from held.expires_at - db_now()) * 1000)::float8 as remaining
     from (select $1::uuid as user_id, $2::uuid as session_id) want
       join inboxes head on head.user_id = want.user_id
       cross join lateral (${heldSession('want.user_id', 'want.session_id')}) held`,
  );
  /**
   * Every stream in a few look-ups by key; nearly always there is nothing to be done and no row comes back. Lateral and
   * limited, so that whatever the planner thinks of the tables, it can only go from key to key: left the choice, it has
   * joined the sessions of everybody and looked through them for each stream. Planned at each use, as what reads changes is.
   */
  const selectFindings = sql(
    `select nth, expires_at, is_expiring, is_behind
     from (
       select want.nth::int as nth, held.expires_at,
              held.expires_at < db_now() + want.lead * interval '1 millisecond' and want.lead > 0 as is_expiring,
              head.last_change_sequence <> want.position or coalesce(markers.last_read_sequence > want.marker, false)
                as is_behind
       from unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::bigint[]), (select $4::bigint[]),
                   (select $5::float8[])) with ordinality as want (user_id, session_id, position, marker, lead, nth)
         left join lateral (${heldSession('want.user_id', 'want.session_id')} limit 1) held on true
         left join lateral (select * from inboxes where user_id = want.user_id limit 1) head on true
         left join lateral (select * from markers where user_id = want.user_id limit 1) markers on true
     ) finding
     where expires_at is null or is_expiring or is_behind`,
  );

  return {
    async begin({ userId, sessionId }, start) {
      const [row] = await database.query<HeadRow>(selectHead, [userId, sessionId]);
      if (row === undefined) throw new Problem('invalid_session_token');
      const { head, remaining } = row;
      if (start === 'now') return { position: head, history: undefined, isReset: false, remaining };
      if ('lastEventId' in start) {
        const isReset = isLost(start.lastEventId, row);
        return { position: isReset ? head : start.lastEventId, history: undefined, isReset, remaining };
      }
      const [last] = await database.query<{ place: number }>(lastBefore[start.by], [userId, start.since]);
      const position = Math.min(last?.place ?? 0, head);
      const history = start.by === 'created_at' ? { floor: position, end: head } : undefined;
      return { position, history, isReset: false, remaining };
    },

    async check(streams) {
      const rows = await database.query<FindingRow>(selectFindings, [
        arrayText(streams.map(({ userId }) => userId)),
        arrayText(streams.map(({ sessionId }) => sessionId)),
        arrayText(streams.map(({ position }) => position)),
        arrayText(streams.map(({ marker }) => marker)),
        arrayText(streams.map(({ lead }) => lead)),
      ]);
      return rows.flatMap(({ nth, expires_at: expiresAt, is_expiring: isExpiring, is_behind: isBehind }) => {
        const stream = streams[nth - 1];
        return stream === undefined ? [] : [{ stream, expiresAt, isExpiring, isBehind }];
      });
    },
  };
}
