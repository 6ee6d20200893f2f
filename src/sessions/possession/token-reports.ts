import { recordEvent } from '../../audit/events.js';
import type { Database, Queryable } from '../../database/database.js';
import { type Parameters, sql, userStatement } from '../../database/sql.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import type { Origin } from '../../lib/origin.js';
import type { Notices } from '../../messages/notices.js';

/** A use of a token that shows or suggests that somebody copied it. */
export interface TokenReport {
  readonly type: 'token.misused' | 'token.shared';
  /** More about the event. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether the user gets a notice. */
  readonly isNotified: boolean;
}

/** Records events of copied tokens and notifies their users. */
export type ReportToken = (token: ParsedToken, origin: Origin, report: TokenReport) => Promise<void>;

/** The key of a token's row. */
export interface TokenKey {
  readonly userId: string;
  readonly authenticationId: string;
  readonly authenticationDigest: Buffer;
}

/** SQL: whether a row `a` of `authentications` is an approved login with this token. */
export const isToken = (p: Parameters<TokenKey>) => sql`
  a.user_id = ${p.userId} and a.id = ${p.authenticationId} and a.token_digest = ${p.authenticationDigest}
  and a.status = 'approved' and a.ended_at is null`;

const markReport = userStatement<TokenKey & { readonly restHours: number }, { device_id: string }>(
  'token_mark_report',
  (p) => sql`
  update authentications a set misuse_reported_at = n.now
  from (select db_now() as now) n
  where ${isToken(p)} and (a.misuse_reported_at is null
    or a.misuse_reported_at not between n.now - ${p.restHours}::int * interval '1 hour' and n.now)
  returning a.device_id`,
);

/**
 * Hours until a token is reported again. A refused copy has certainly been copied. Two clients of one token may be parts of
 * one app, and their user would get a notice again and again.
 */
const restHours = { 'token.misused': 1, 'token.shared': 24 };

/** Creates the reports. Each writes its event and its notice in one transaction. */
export function createTokenReports(database: Database, notices: Pick<Notices, 'notify'>): ReportToken {
  return async (token, origin, { type, data, isNotified }) => {
    const [userId = '', authenticationId = ''] = token.ids;
    const key = { userId, authenticationId, authenticationDigest: token.digest };
    await database.user(userId).transaction(async (tx: Queryable<'user'>) => {
      const [row] = await tx.query(markReport({ ...key, restHours: restHours[type] }));
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
