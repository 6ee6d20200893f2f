import { recordServiceEvent } from '../audit/events.js';
import type { Database, Queryable } from '../database/database.js';
import { literal, type Sql, sql, statement } from '../database/sql.js';
import { regionOf } from '../lib/phone-region.js';

/** Decides which numbers get codes by SMS. Each code costs money, and bots request codes to numbers that pay them (SMS pumping). */
export interface SmsAdmission {
  /**
   * Why a code is not sent to a number, for operators. Undefined: it is sent. The client sees no difference, because this is
   * decided when the request was answered already.
   */
  refusalOf(phone: string): Promise<string | undefined>;
  /** Predicts `refusalOf`, and changes nothing. */
  predict(phone: string): Promise<SmsRefusal | undefined>;
}

/** Why a code is not sent. `until`: the end of the pause, if it has begun. */
export type SmsRefusal = { readonly cause: 'country' } | { readonly cause: 'paused'; readonly until: string | null };

/** How many codes went to the numbers of a prefix in a day, and how many of them were used. */
export interface SmsUsage {
  readonly prefix: string;
  /** The region of the prefix; null if it is not known. */
  readonly country: string | null;
  readonly sent: number;
  readonly used: number;
  /** Until when codes to the prefix are not sent; null if they are. */
  readonly paused_until: string | null;
}

/** A prefix is paused if fewer than one in ten of its last hundred codes was used. */
const judged = { codes: 100, used: 10 };
/** The maximum number of codes and of prefixes in a summary. */
const summarized = { codes: 10_000, prefixes: 20 };

/** The prefix of a number, as for SMS_LIMIT_PER_PREFIX: `+` and six digits, which identify country and network. */
export const smsPrefix = (phone: string): string => phone.slice(0, 7);

/** SQL: the pauses of prefixes, as their audit events. They start in the last 25 hours. */
const pauses = sql`(
  select data->>'prefix' as prefix, max(created_at) + interval '1 hour' as until from events
  where user_id = '00000000-0000-0000-0000-000000000000' and created_at > db_now() - interval '25 hours' and type = 'sms.prefix_paused'
  group by data->>'prefix')`;

/**
 * SQL: whether the code of the message `o` was used: its login went on, or the flow of self-service that was started with it
 * has ended. Only the flow is looked up by the user: a login that signed up belongs to another user than its message.
 */
const isUsed: Sql = sql`
  case when o.authentication_id is not null then exists (
         select from authentications a
         where a.id = o.authentication_id and (a.status = 'approved' or a.factor = 2))
       else exists (
         select from challenges c
         where c.user_id = o.user_id and c.ended_at is not null
           and c.created_at between o.created_at - interval '1 second' and o.created_at + interval '1 second') end`;

/** SQL: the condition that the message `o` is a code that a provider has accepted in the last day. */
const isSentCode = sql`
  o.channel = 'sms' and o.sealed_code is not null and o.state in ('sent', 'delivered', 'undelivered')
  and o.created_at > (select db_now() - interval '1 day')`;

interface PrefixUsage {
  /** Null if the prefix is not paused now. */
  readonly paused_until: string | null;
  readonly sent: number;
  readonly used: number;
}

/**
 * The last codes to a prefix since its last pause. A code counts when it was used, or when there were two minutes to use it: codes that users
 * are still typing do not count as unused.
 */
const selectPrefix = statement<{ prefix: string }, PrefixUsage>(
  'sms_prefix_usage',
  (p) => sql`
  with pause as materialized (select until from ${pauses} paused where prefix = ${p.prefix}),
  recent as (
    select o.created_at, ${isUsed} as is_used from outbox o
    where left(o.recipient, 7) = ${p.prefix} and ${isSentCode}
      and o.created_at > coalesce((select until from pause), '-infinity')
    order by o.created_at desc limit ${literal(2 * judged.codes)}),
  judged as (
    select is_used from recent where is_used or created_at < db_now() - interval '2 minutes'
    order by created_at desc limit ${literal(judged.codes)})
  select (select until from pause where until > db_now()) as paused_until,
         count(*)::int as sent, (count(*) filter (where is_used))::int as used from judged`,
);

/** One process at a time pauses a prefix. */
const lockPrefix = statement<{ prefix: string }>(
  'sms_prefix_lock',
  (p) => sql`select pg_advisory_xact_lock(hashtextextended('sms prefix ' || ${p.prefix}, 0))`,
);

const selectUsage = statement<
  Record<never, never>,
  { prefix: string; sample: string; sent: number; used: number; paused_until: string | null }
>(
  'sms_usage',
  () => sql`
  with recent as (
    select left(o.recipient, 7) as prefix, o.recipient, ${isUsed} as is_used from outbox o
    where ${isSentCode} and o.recipient is not null order by o.created_at desc limit ${literal(summarized.codes)}),
  counted as (
    select prefix, min(recipient) as sample, count(*)::int as sent, (count(*) filter (where is_used))::int as used
    from recent group by prefix)
  select prefix, sample, sent, used,
         case when paused.until > db_now() then paused.until end as paused_until
  from counted left join ${pauses} paused using (prefix)
  order by paused_until nulls last, sent desc, prefix limit ${literal(summarized.prefixes)}`,
);

/** Reads how many codes were sent and used, for the prefixes with most codes of the last day. Paused ones come first. */
export async function readSmsUsage(handle: Queryable): Promise<SmsUsage[]> {
  const rows = await handle.query(selectUsage({}));
  return rows.map(({ sample, ...row }) => ({ ...row, country: regionOf(sample) ?? null }));
}

/** @param countries the setting `SMS_COUNTRIES`; undefined: codes go to all countries */
export function createSmsAdmission(database: Database, countries: readonly string[] | undefined): SmsAdmission {
  const isTooFew = ({ sent, used }: PrefixUsage) => sent >= judged.codes && used < judged.used;
  const readPrefix = async (handle: Queryable, prefix: string): Promise<PrefixUsage> => {
    const [usage] = await handle.query(selectPrefix({ prefix }));
    return usage ?? { paused_until: null, sent: 0, used: 0 };
  };

  async function predict(phone: string): Promise<SmsRefusal | undefined> {
    const region = regionOf(phone);
    if (countries !== undefined && (region === undefined || !countries.includes(region))) return { cause: 'country' };
    const usage = await readPrefix(database, smsPrefix(phone));
    const { paused_until: until } = usage;
    return until !== null || isTooFew(usage) ? { cause: 'paused', until } : undefined;
  }

  const pause = (prefix: string): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.query(lockPrefix({ prefix }));
      // Another process may have paused it meanwhile.
      const usage = await readPrefix(tx, prefix);
      if (usage.paused_until !== null || !isTooFew(usage)) return;
      const data = { prefix, sent: usage.sent, used: usage.used };
      await recordServiceEvent(tx, { type: 'sms.prefix_paused', origin: { actor: 'system' }, data });
    });

  return {
    predict,
    async refusalOf(phone) {
      const refusal = await predict(phone);
      if (refusal === undefined) return undefined;
      if (refusal.cause === 'country') return 'the country of the number is not in SMS_COUNTRIES';
      const prefix = smsPrefix(phone);
      if (refusal.until === null) await pause(prefix);
      return `codes to ${prefix} are paused, because few of the last ones were used`;
    },
  };
}
