import { arrayText } from '../../database/array-text.js';
import type { Database } from '../../database/database.js';
import { type Sql, type SqlPart, type StatementWith, sql, statement, unprepared } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import type { Instant } from '../../lib/times.js';
import { needsReset } from '../inbox/changes.js';
import type { NotificationSort } from '../inbox/cursor.js';
import { boundsOf } from '../inbox/time-bounds.js';
import type { Stream } from './stream.js';

/**
 * SQL of a lateral subquery with the column `expires_at`: one row if this session of this user is valid now. It comes from
 * the composition root, because notifications do not depend on sessions.
 */
export type ValidSession = (userId: SqlPart, sessionId: SqlPart) => Sql;

type SortField = NotificationSort['field'];

/** Where a stream starts: after an event id of an earlier stream, after a time, or now. */
export type StreamStart =
  | { readonly lastEventId: number }
  | { readonly since: Instant; readonly by: SortField }
  | 'now';

/** The start of a stream, as it was found in the database. */
export interface ResolvedStart extends Pick<Stream, 'position' | 'history'> {
  /** Whether the client must start again, because not all changes since its position are known. */
  readonly isReset: boolean;
  /** Milliseconds until the session ends. */
  readonly remaining: number;
  /** The version of the states of the user. */
  readonly stateVersion: number;
}

/** A stream that has changes, whose session expires soon, or whose session is no longer valid. */
export interface Finding {
  readonly stream: Stream;
  /** Null: the session is no longer valid. */
  readonly expiresAt: string | null;
  readonly isExpiring: boolean;
  readonly isBehind: boolean;
}

interface StartRow {
  lastChange: number;
  tombstonesRemovedUpTo: number;
  remaining: number;
  stateVersion: number;
}
interface FindingRow {
  nth: number;
  expires_at: string | null;
  is_expiring: boolean;
  is_behind: boolean;
}

export interface StreamQueries {
  /** Finds the start of a stream. @throws Problem `invalid_session_token` when the session is not valid */
  begin(ids: Pick<Stream, 'userId' | 'sessionId'>, start: StreamStart): Promise<ResolvedStart>;
  /**
   * Checks up to about a thousand streams.
   * @returns the streams that have changes, or whose session ends soon or is no longer valid
   */
  check(streams: readonly Stream[]): Promise<Finding[]>;
}

/** The last change that is not newer than a time. */
const placeAt = (field: SortField) =>
  statement<{ userId: string; since: Instant }, { place: number }>(
    `streams_since_${field}`,
    (p) => sql`
    with recursive
    inbox as (select last_change_sequence from inboxes where user_id = ${p.userId}),
    ${boundsOf(field, p.userId, sql`${p.since}::timestamptz`)}
    select low as place from bounds where low = high`,
  );
const lastBefore: Record<SortField, StatementWith<{ userId: string; since: Instant }, { place: number }>> = {
  created_at: placeAt('created_at'),
  updated_at: placeAt('updated_at'),
};

/** Streams to check, as arrays. */
interface CheckedStreams {
  readonly userIds: string;
  readonly sessionIds: string;
  readonly positions: string;
  readonly readPositions: string;
  readonly stateVersions: string;
  readonly warningLeads: string;
}

/** Creates the queries that all streams of a process share. */
export function createStreamQueries(database: Database, validSession: ValidSession): StreamQueries {
  const selectStart = statement<{ userId: string; sessionId: string }, StartRow>(
    'streams_begin',
    (p) => sql`
    select inbox.last_change_sequence as "lastChange", inbox.forgotten_change_sequence as "tombstonesRemovedUpTo",
           (extract(epoch from session.expires_at - db_now()) * 1000)::float8 as remaining,
           coalesce((select state_version from markers where user_id = requested.user_id), 0) as "stateVersion"
    from (select ${p.userId}::uuid as user_id, ${p.sessionId}::uuid as session_id) requested
      join inboxes inbox on inbox.user_id = requested.user_id
      cross join lateral (${validSession(sql`requested.user_id`, sql`requested.session_id`)}) session`,
  );

  /**
   * Checks each stream with a few look-ups by key. Nearly always, no stream needs work and the query returns no row.
   * The subqueries are lateral and limited, so the planner can only look up key by key. Without this, a plan scanned
   * the sessions of all users for each stream.
   */
  const selectFindings = unprepared(
    statement<CheckedStreams, FindingRow>(
      'streams_check',
      (p) => sql`
    select nth, expires_at, is_expiring, is_behind
    from (
      select checked.nth::int as nth, session.expires_at,
             session.expires_at < db_now() + checked.lead * interval '1 millisecond' and checked.lead > 0 as is_expiring,
             inbox.last_change_sequence <> checked.position
               or coalesce(markers.last_read_sequence > checked.marker, false)
               or coalesce(checked.state_version >= 0 and markers.state_version > checked.state_version, false) as is_behind
      from unnest((select ${p.userIds}::uuid[]), (select ${p.sessionIds}::uuid[]), (select ${p.positions}::bigint[]),
                  (select ${p.readPositions}::bigint[]), (select ${p.stateVersions}::bigint[]),
                  (select ${p.warningLeads}::float8[]))
          with ordinality as checked (user_id, session_id, position, marker, state_version, lead, nth)
        left join lateral (${validSession(sql`checked.user_id`, sql`checked.session_id`)} limit 1) session on true
        left join lateral (select * from inboxes where user_id = checked.user_id limit 1) inbox on true
        left join lateral (select * from markers where user_id = checked.user_id limit 1) markers on true
    ) finding
    where expires_at is null or is_expiring or is_behind`,
    ),
  );

  return {
    async begin({ userId, sessionId }, start) {
      const [row] = await database.user(userId).query(selectStart({ userId, sessionId }));
      if (row === undefined) throw new Problem('invalid_session_token');
      const { lastChange, remaining, stateVersion } = row;
      const common = { remaining, stateVersion };
      if (start === 'now') return { position: lastChange, history: undefined, isReset: false, ...common };
      if ('lastEventId' in start) {
        const isReset = needsReset(start.lastEventId, row);
        return { position: isReset ? lastChange : start.lastEventId, history: undefined, isReset, ...common };
      }
      const [last] = await database.user(userId).query(lastBefore[start.by]({ userId, since: start.since }));
      const position = Math.min(last?.place ?? 0, lastChange);
      const history = start.by === 'created_at' ? { after: position, end: lastChange } : undefined;
      return { position, history, isReset: false, ...common };
    },

    async check(streams) {
      const statement = selectFindings({
        userIds: arrayText(streams.map(({ userId }) => userId)),
        sessionIds: arrayText(streams.map(({ sessionId }) => sessionId)),
        positions: arrayText(streams.map(({ position }) => position)),
        readPositions: arrayText(streams.map(({ lastRead: marker }) => marker)),
        stateVersions: arrayText(streams.map(({ stateVersion }) => stateVersion)),
        warningLeads: arrayText(streams.map(({ warningLeadMs: lead }) => lead)),
      });
      const rows = await database.query(statement);
      return rows.flatMap(({ nth, expires_at: expiresAt, is_expiring: isExpiring, is_behind: isBehind }) => {
        const stream = streams[nth - 1];
        return stream === undefined ? [] : [{ stream, expiresAt, isExpiring, isBehind }];
      });
    },
  };
}
