import { recordEvent } from '../../audit/events.js';
import type { Database, Queryable } from '../../database/database.js';
import { type Parameters, sql, statement } from '../../database/sql.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import type { Origin } from '../../lib/origin.js';
import type { Notices } from '../../messages/notices.js';

/** A report that a token was used in a way that proves or suggests that somebody has copied it. */
export interface TokenReport {
  /** The type of the audit event. `token.misused`: somebody has copied the token. `token.shared`: two clients use the token. */
  readonly type: 'token.misused' | 'token.shared';
  /** Further data of the audit event. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether Postern sends the user a notice. */
  readonly isNotified: boolean;
}

/** Records an audit event for a token that may have been copied, and notifies its user. */
export type ReportToken = (token: ParsedToken, origin: Origin, report: TokenReport) => Promise<void>;

/** The values that identify the row of a token. */
export interface TokenKey {
  readonly userId: string;
  readonly authenticationId: string;
  readonly authenticationDigest: Buffer;
}

/** SQL: the condition that the row `a` of `authentications` has this token, is approved and has not ended. */
export const rowHasToken = (p: Parameters<TokenKey>) => sql`
  a.user_id = ${p.userId} and a.id = ${p.authenticationId} and a.token_digest = ${p.authenticationDigest}
  and a.status = 'approved' and a.ended_at is null`;

/**
 * Stores the time of the report. Changes no row if the token was reported in the last `quietHours`. A parallel transaction that
 * reported it first may have a slightly later time. A time further in the future is from a clock that was wrong, and does not count.
 */
const markReport = statement<TokenKey & { readonly quietHours: number }, { device_id: string }>(
  'token_mark_report',
  (p) => sql`
  update authentications a set misuse_reported_at = n.now
  from (select db_now() as now) n
  where ${rowHasToken(p)} and (a.misuse_reported_at is null
    or a.misuse_reported_at
      not between n.now - ${p.quietHours}::int * interval '1 hour' and n.now + interval '1 minute')
  returning a.device_id`,
);

/**
 * After a report of a token, Postern does not report the same token again for this number of hours. A misused token has certainly been copied. But two
 * clients that share a token may be parts of one app, and the user would often get a notice for no reason.
 */
const quietHours = { 'token.misused': 1, 'token.shared': 24 };

/** Creates the function that reports tokens. One transaction writes the audit event and the notice. */
export function createTokenReports(database: Database, notices: Pick<Notices, 'notify'>): ReportToken {
  return async (token, origin, { type, data, isNotified }) => {
    const [userId = '', authenticationId = ''] = token.ids;
    const key = { userId, authenticationId, authenticationDigest: token.digest };
    await database.user(userId).transaction(async (tx: Queryable) => {
      const [row] = await tx.query(markReport({ ...key, quietHours: quietHours[type] }));
      if (row === undefined) return;
      const { device_id } = row;
      await recordEvent(tx, {
        userId,
        type,
        origin,
        data: { authentication_id: authenticationId, device_id, ...data },
      });
      if (!isNotified) return;
      const kind = type === 'token.misused' ? 'token_misused' : 'token_shared';
      await notices.notify(tx, { userId, kind, origin: { ...origin, deviceId: device_id } });
    });
  };
}
