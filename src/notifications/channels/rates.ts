import type { StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** How many messages the steps of a channel may send: MAIL_RATE, SMS_RATE. */
export interface Rate {
  readonly size: number;
  readonly windowMs: number;
}

/** Limits the messages of all instances together, except codes and notices. */
export interface Rates {
  /**
   * Takes a permit for one message. Calls that arrive while a statement runs share the next statement. A channel without a rate needs no
   * statement. An unused permit is lost, so call this directly before you send.
   * @returns 0 if the message may be sent, otherwise the milliseconds until the next try
   */
  pauseBefore(channel: StepChannel): Promise<number>;
}

interface Request {
  readonly channel: string;
  readonly wanted: number;
  readonly perSecond: number;
}

/**
 * A token bucket with the size of a tenth of a second, or one message, so that messages are spread evenly. It locks the row before it reads
 * the time. The commit does not wait for the disk, so a crash can permit the messages of a moment twice.
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

/** One statement at a time. Waiting calls share the next one. */
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
        // Refused calls return one after the other, when permits become free.
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
