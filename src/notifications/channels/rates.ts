import type { StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** How many messages the steps of a channel may send: MAIL_RATE, SMS_RATE. */
export interface Rate {
  readonly size: number;
  readonly windowMs: number;
}

/** Limits the messages of all instances together. Codes and notices do not ask. */
export interface Rates {
  /**
   * Takes the right to send one message now. Calls that come while a statement runs share the next one, and a channel without a
   * rate takes none. A right that is not used is lost, so ask directly before you send.
   * @returns the milliseconds after which to ask again; 0: the message may be sent
   */
  pauseBefore(channel: StepChannel): Promise<number>;
}

interface Request {
  readonly channel: string;
  readonly wanted: number;
  readonly perSecond: number;
}

/**
 * A token bucket that holds what may be sent in a tenth of a second, so that the messages are spread evenly, and at least one
 * message. It reads the time when it has the row. The commit does not wait for the disk: after a crash, the messages of a moment may be
 * granted once more.
 */
const takeTokens = statement<Request, { granted: number; wait: number }>(
  'channel_take',
  (p) => sql`
    with channel as materialized (
      select name, tokens, tokens_at from channels where name = ${p.channel} for no key update
    ),
    filled as materialized (
      select name, clock.now, least(greatest(1, ${p.perSecond}::float8 / 10),
               tokens + ${p.perSecond}::float8 * greatest(0, extract(epoch from clock.now - tokens_at))) as tokens
      from channel cross join lateral (select db_now() as now where channel.name is not null) clock
    ),
    granted as materialized (
      select name, now, tokens, least(${p.wanted}::float8, floor(tokens)) as granted from filled
    ),
    taken as (
      update channels set tokens = granted.tokens - granted.granted, tokens_at = granted.now
      from granted where channels.name = granted.name
    )
    select granted::int as granted, set_config('synchronous_commit', 'off', true) as flush,
           case when granted < ${p.wanted}::float8
             then (1 - (tokens - granted)) / ${p.perSecond}::float8 * 1000 else 0 end as wait
    from granted`,
);

/** @param rates a channel without one sends without limit */
export function createRates(
  database: Queryable,
  rates: Readonly<Partial<Record<StepChannel, Rate | undefined>>>,
): Rates {
  const takers = new Map(
    Object.entries(rates).flatMap(([channel, rate]) =>
      rate === undefined ? [] : [[channel, createTaker(database, channel, rate)] as const],
    ),
  );
  return { pauseBefore: async (channel) => takers.get(channel)?.() ?? 0 };
}

/** One statement at a time: those who wait for it share the next. */
function createTaker(database: Queryable, channel: string, { size, windowMs }: Rate): () => Promise<number> {
  const perSecond = (size / windowMs) * 1000;
  let waiting: { resolve(pause: number): void; reject(error: unknown): void }[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const [row] = await database.query(takeTokens({ channel, wanted: batch.length, perSecond }));
        const { granted = 0, wait = 1000 } = row ?? {};
        // Those who are refused come again one after another, as rights become free.
        for (const [place, { resolve }] of batch.entries()) {
          resolve(place < granted ? 0 : Math.ceil(wait + ((place - granted) * 1000) / perSecond));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return () =>
    new Promise<number>((resolve, reject) => {
      waiting.push({ resolve, reject });
      // Calls of the same turn share the statement.
      if (!isRunning) queueMicrotask(() => void (isRunning || run()));
    });
}
