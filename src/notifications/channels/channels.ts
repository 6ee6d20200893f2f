import { type StepChannel, stepChannels } from '../../contract/category.js';
import type { Channel, PauseReason } from '../../contract/channel.js';
import type { Handle, Queryable, Transaction } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { watchCopy } from '../../database/watched-copy.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';

/** A pause that has begun or ended, for the audit log. */
export interface PauseChange {
  readonly channel: StepChannel;
  readonly paused: boolean;
  /** Why the pause begins; null if it ends. */
  readonly reason: PauseReason | null;
}

/** Whether the steps of notifications may use a channel. Codes and notices are never paused. */
export interface Channels {
  /** Whether the steps of a channel are held, from the memory of this process. */
  isPaused(channel: StepChannel): boolean;
  /** The number of seconds after which a waiting message checks the channel again; 0 if the channel is not paused. */
  waitOf(channel: StepChannel): number;
  list(): Promise<Channel[]>;
  /** Pauses a channel or ends its pause. Repeating this changes nothing. @throws Problem `not_found` */
  set(tx: Transaction, name: string, paused: boolean, origin: Origin): Promise<Channel>;
  /**
   * Pauses mail if providers have reported too many complaints or hard bounces. Call it after such a report.
   * @returns when the check has ended; never rejects
   */
  checkMails(): Promise<void>;
  /** Waits until this process has read the changes. If that fails, the process reads them later. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

const columns = sql`name, paused_at is not null as paused, paused_at, reason`;

const listChannels = statement<object, Channel>('channels_list', () => sql`select ${columns} from channels`);

const pauseOne = statement<{ name: string; reason: PauseReason }, Channel>(
  'channel_pause',
  (p) => sql`
    update channels set paused_at = db_now(), reason = ${p.reason} where name = ${p.name} and paused_at is null
    returning ${columns}`,
);
/** The maximum number of stored pauses of a channel. No waiting message is older than these. */
const maxPauses = 200;
const resumeOne = statement<{ name: string }, Channel>(
  'channel_resume',
  (p) => sql`
    with pause as materialized (
      select paused_at as begun_at, greatest(paused_at, db_now()) as ended_at from channels where name = ${p.name} for update)
    update channels
    set paused_at = null, reason = null, resumed_at = ended_at,
        pauses = coalesce((
          select range_agg(period) from (
            select period from unnest(channels.pauses + tstzmultirange(tstzrange(begun_at, ended_at))) as period
            where upper(period) > ended_at - interval '60 days'
            order by period desc limit ${literal(maxPauses)}) newest), '{}')
    from pause
    where name = ${p.name} and channels.paused_at is not null
    returning ${columns}`,
);
const findOne = statement<{ name: string }, Channel>(
  'channel_find',
  (p) => sql`select ${columns} from channels where name = ${p.name}`,
);

/**
 * Mail pauses if more than this share of the last mails has complaints or bounces. A share counts at least so many mails: four complaints
 * about the first thousand mails pause it, but one complaint about the first three does not.
 */
const limits = { mails: 1000, complaints: 0.003, leastForComplaints: 1000, hardBounces: 0.1, leastForHardBounces: 100 };
const isAbove = (count: ReturnType<typeof sql>, thousandths: number, least: number) =>
  sql`${count} * 1000 > ${literal(thousandths)} * greatest(mails, ${literal(least)})`;
const hasComplaints = isAbove(sql`complaints`, limits.complaints * 1000, limits.leastForComplaints);
const hasHardBounces = isAbove(sql`hard_bounces`, limits.hardBounces * 1000, limits.leastForHardBounces);

/**
 * Pauses mail automatically. It counts mails about notifications since the last pause, if their provider sends reports. Mails with codes do
 * not count, because anybody can request them for any address.
 */
const pauseMail = statement<object, Channel>(
  'channel_pause_mail',
  () => sql`
    with counted as materialized (
      select count(*) as mails, count(complained_at) as complaints, count(hard_bounced_at) as hard_bounces
      from (
        select complained_at, hard_bounced_at from mail_deliveries
        where notification_id is not null and created_at > (select resumed_at from channels where name = 'email')
        order by created_at desc limit ${literal(limits.mails)}) newest
    )
    update channels
    set paused_at = db_now(), reason = case when ${hasComplaints} then 'complaints' else 'hard_bounces' end
    from counted
    where name = 'email' and paused_at is null and (${hasComplaints} or ${hasHardBounces})
    returning ${columns}`,
);

/**
 * Seconds until a waiting message checks a paused channel again: a quarter of the pause so far, so that a long queue does not check too
 * often.
 */
const waits = { shortest: 5, longest: 60, share: 1 / 4 };

const isChannel = (name: string): name is StepChannel => (stepChannels as readonly string[]).includes(name);

/** The channels that are paused, for findings and metrics. */
export async function pausedChannels(handle: Queryable): Promise<Channel[]> {
  return (await handle.query(listChannels({}))).filter(({ paused }) => paused);
}

/** Reads which channels are paused, and follows the changes of all instances until it is stopped. */
export async function startChannels({
  database,
  record,
  onError,
  onPaused,
  interval,
}: {
  readonly database: Handle;
  /** Records a change in the transaction that makes it. */
  readonly record: (tx: Queryable, origin: Origin, change: PauseChange) => Promise<void>;
  /** Called when the channels could not be read or checked. */
  readonly onError: (error: unknown) => void;
  /** Called when this process has paused mail because of reports. */
  readonly onPaused: (channel: Channel) => void;
  /** Milliseconds between two reads. */
  readonly interval?: number | undefined;
}): Promise<Channels> {
  /** The start of each pause, in milliseconds of Unix time. */
  let paused: ReadonlyMap<string, number> = new Map();
  const watch = await watchCopy(
    async () => {
      const found = await pausedChannels(database);
      paused = new Map(found.map(({ name, paused_at: at }) => [name, Date.parse(at ?? '')]));
    },
    onError,
    interval,
  );
  const refresh = () => watch.refresh().catch(onError);

  async function check(): Promise<void> {
    const found = await database.transaction(async (tx) => {
      const [channel] = await tx.query(pauseMail({}));
      if (channel !== undefined) await record(tx, { actor: 'system' }, changeOf(channel));
      return channel;
    });
    if (found === undefined) return;
    await refresh();
    onPaused(found);
  }

  let checking: Promise<void> | undefined;
  let isRequested = false;
  /** One check at a time. If reports arrive meanwhile, another check follows. */
  async function checkWhileRequested(): Promise<void> {
    while (isRequested) {
      isRequested = false;
      await check().catch(onError);
    }
    checking = undefined;
  }

  return {
    isPaused: (channel) => paused.has(channel),
    waitOf(channel) {
      const since = paused.get(channel);
      if (since === undefined) return 0;
      return Math.min(waits.longest, Math.max(waits.shortest, ((Date.now() - since) / 1000) * waits.share));
    },
    async list() {
      const all = await database.query(listChannels({}));
      return stepChannels.flatMap((name) => all.filter((channel) => channel.name === name));
    },
    async set(tx, name, isPaused, origin) {
      if (!isChannel(name)) throw new Problem('not_found');
      const [changed] = await tx.query(isPaused ? pauseOne({ name, reason: 'operator' }) : resumeOne({ name }));
      if (changed !== undefined) {
        await record(tx, origin, changeOf(changed));
        return changed;
      }
      const [channel] = await tx.query(findOne({ name }));
      if (channel === undefined) throw new Problem('not_found');
      return channel;
    },
    checkMails() {
      isRequested = true;
      checking ??= checkWhileRequested();
      return checking;
    },
    refresh,
    async stop() {
      await watch.stop();
      await checking;
    },
  };
}

const changeOf = ({ name, paused, reason }: Channel): PauseChange => ({ channel: name, paused, reason });
