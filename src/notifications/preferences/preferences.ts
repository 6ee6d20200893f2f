import type { EventChange } from '../../contract/administration.js';
import { type Category, type StepChannel, stepChannels } from '../../contract/category.js';
import type { PreferenceChanges, Preferences as PreferencesView } from '../../contract/preferences.js';
import type { Queryable, Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import type { KnownCategories } from '../categories/categories.js';
import { quietUntil } from '../deliveries/quiet-hours.js';
import { recordUserEvent } from '../inbox/webhook-events.js';
import { textFor } from '../templates/templates.js';
import {
  applyChanges,
  type CategoryChoices,
  type CellName,
  type Choices,
  cellNames,
  changeErrors,
  hasChoices,
  inboxChoicesOf,
  maxChosenTopics,
  noChoices,
} from './choices.js';
import { noZones, type TimeZones } from './time-zones.js';

/** What users choose about notifications. */
export interface Preferences {
  /**
   * @param options.language of the titles: a locale
   * @param options.times whether the answer says when each choice was made
   * @throws Problem `not_found` if the user does not exist
   */
  get(
    handle: Queryable,
    userId: string,
    options: { readonly language: string; readonly times?: boolean },
  ): Promise<PreferencesView>;
  /**
   * Changes the cells that are named. The last write of each cell wins, also under parallel requests.
   * @param options.isOwn whether the request has a login of the user, also a support login. Then only open and subscribed topics can be
   * changed.
   * @returns whether a value differs from before
   * @throws Problem `validation_failed`, `not_found`
   */
  change(
    tx: Transaction,
    userId: string,
    changes: PreferenceChanges,
    options: { readonly isOwn: boolean; readonly origin: Origin },
  ): Promise<boolean>;
  /** Returns the faults of a change, except those of its form. The body may have any form. */
  errorsOf(
    handle: Queryable,
    userId: string,
    body: unknown,
    options: { readonly isOwn: boolean },
  ): Promise<FieldError[]>;
}

interface UserRow {
  email: string | null;
  phone: string | null;
  email_verified: boolean;
  phone_verified: boolean;
  choices: Choices | null;
}

const selectUser = statement<{ userId: string }, UserRow>(
  'preferences_get',
  (p) => sql`
    select u.email, u.phone, u.email_verified, u.phone_verified,
           (select jsonb_build_object('time_zone', time_zone, 'quiet_hours', quiet_hours, 'channels', channels, 'categories', categories,
                                      'topics', topics)
            from preferences where user_id = ${p.userId}) as choices
    from users u where u.id = ${p.userId}`,
);

/** Locks the inbox row, as for mutes, so that parallel changes wait. Returns no row if the user is being deleted. */
const lockUser = statement<{ userId: string }, { now: string }>(
  'preferences_lock',
  (p) => sql`select db_now() as now from inboxes where user_id = ${p.userId} for no key update`,
);

const selectChoices = statement<{ userId: string }, Choices>(
  'preferences_choices',
  (p) => sql`select time_zone, quiet_hours, channels, categories, topics from preferences where user_id = ${p.userId}`,
);

/**
 * Moves held deliveries to the end of the new quiet hours, or to now if there are none. This saves a release that would hold them again.
 */
const moveHolds = statement<{ userId: string; zone: string }>(
  'preferences_move_holds',
  (p) => sql`
    update quiet_holds
    set held_until = coalesce((select ${quietUntil(p.zone)} from preferences where preferences.user_id = ${p.userId}), db_now())
    where user_id = ${p.userId}`,
);

interface Stored {
  readonly userId: string;
  readonly zone: string | null;
  readonly quietHours: string | null;
  readonly channels: string;
  readonly categories: string;
  readonly topics: string;
}

const writeChoices = statement<Stored>(
  'preferences_write',
  (p) => sql`
    insert into preferences (user_id, time_zone, quiet_hours, channels, categories, topics)
    values (${p.userId}, ${p.zone}, ${p.quietHours}::jsonb, ${p.channels}::jsonb, ${p.categories}::jsonb, ${p.topics}::jsonb)
    on conflict (user_id) do update
    set time_zone = excluded.time_zone, quiet_hours = excluded.quiet_hours, channels = excluded.channels, categories = excluded.categories,
        topics = excluded.topics`,
);

/** @param isOwn see `Preferences.change` */
const selectTopics = statement<{ userId: string; keys: readonly string[]; isOwn: boolean }, { key: string }>(
  'preferences_topics',
  (p) => sql`
    select key from topics
    where key = any (${p.keys}::text[])
      and (is_open or not ${p.isOwn} or exists (
        select from subscriptions s where s.topic_id = topics.id and s.user_id = ${p.userId}))`,
);
const selectExisting = statement<{ keys: readonly string[] }, { key: string }>(
  'preferences_existing_topics',
  (p) => sql`select key from topics where key = any (${p.keys}::text[])`,
);
/** Returns those of these topics that exist. */
export async function existingTopics(handle: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  return new Set((await handle.query(selectExisting({ keys }))).map(({ key }) => key));
}

/** Notes that somebody has chosen whether notifications of these topics come to the inbox. */
export async function noteTopicChoices(tx: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await tx.query(noteInboxChoices({ keys }));
}

const noteInboxChoices = statement<{ keys: readonly string[] }>(
  'preferences_note_topics',
  (p) => sql`
    update topics set has_inbox_choices = true where key = any (${p.keys}::text[]) and not has_inbox_choices`,
);

const deleteChoices = statement<{ userId: string }>(
  'preferences_delete',
  (p) => sql`delete from preferences where user_id = ${p.userId}`,
);

export function createPreferences({
  categories,
  timeZones,
  isSuppressed,
  record,
  timeZone,
}: {
  readonly categories: KnownCategories;
  readonly timeZones: TimeZones;
  /** Whether a mail address gets no mail except codes. */
  readonly isSuppressed: (handle: Queryable, address: string) => Promise<boolean>;
  /** Records a change by an operator, in the transaction that makes it. */
  readonly record: (tx: Queryable, userId: string, origin: Origin, changes: readonly EventChange[]) => Promise<void>;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
}): Preferences {
  async function errorsOf(
    handle: Queryable,
    userId: string,
    { changes, isOwn }: { readonly changes: Loose; readonly isOwn: boolean },
  ): Promise<FieldError[]> {
    await categories.refreshFor(handle, namesIn(changes.categories));
    const topics = await topicsOf(handle, userId, { keys: namesIn(changes.topics), isOwn });
    const zones = typeof changes.time_zone === 'string' ? await timeZones.names(handle) : noZones;
    return changeErrors(changes, { categories, zones, topics });
  }

  return {
    errorsOf: async (handle, userId, body, { isOwn }) =>
      isJsonObject(body) ? errorsOf(handle, userId, { changes: body, isOwn }) : [],
    async get(handle, userId, { language, times = false }) {
      const [user] = await handle.query(selectUser({ userId }));
      if (user === undefined) throw new Problem('not_found');
      const suppressed = user.email !== null && (await isSuppressed(handle, user.email));
      const all = categories.names().flatMap((name) => categories.get(name) ?? []);
      return preferencesView(user, { suppressed, all, language, times });
    },
    async change(tx, userId, changes, { isOwn, origin }) {
      throwIfErrors(await errorsOf(tx, userId, { changes, isOwn }));
      const [locked] = await tx.query(lockUser({ userId }));
      if (locked === undefined) throw new Problem('not_found');
      const [before = noChoices] = await tx.query(selectChoices({ userId }));
      const after = applyChanges(before, changes, { now: locked.now, known: categories });
      if (changes.topics !== undefined) await keepExistingTopics(tx, after);
      const fields = differences(before, after);
      await tx.query(hasChoices(after) ? writeChoices(storedOf(userId, after)) : deleteChoices({ userId }));
      // After the write: a delivery that is being held reads these choices under a lock.
      if (fields.some(({ field }) => field === 'time_zone' || field === 'quiet_hours'))
        await tx.query(moveHolds({ userId, zone: timeZone }));
      await categories.noteInboxChoices(tx, inboxChoicesOf(changes.categories));
      await noteTopicChoices(tx, inboxChoicesOf(changes.topics));
      const isChanged = fields.length > 0;
      if (isChanged) {
        const data = JSON.stringify({ fields: fields.map(({ field }) => field) });
        await tx.query(recordUserEvent({ userId, type: 'preference.changed', actor: origin.actor, data }));
      }
      // The row has the time of each choice, so the record of events needs none of the user's.
      if (isChanged && origin.actor !== 'user') await record(tx, userId, origin, fields);
      return isChanged;
    },
  };
}

const storedOf = (userId: string, choices: Choices): Stored => ({
  userId,
  zone: choices.time_zone,
  quietHours: choices.quiet_hours && JSON.stringify(choices.quiet_hours),
  channels: JSON.stringify(choices.channels),
  categories: JSON.stringify(choices.categories),
  topics: JSON.stringify(choices.topics),
});

/** A change whose form is not checked yet. */
type Loose = { readonly [Member in keyof PreferenceChanges]?: unknown };

const namesIn = (part: unknown): string[] => (isJsonObject(part) ? Object.keys(part) : []);

const valuesOf = (cells: CategoryChoices) =>
  Object.fromEntries(Object.entries(cells).map(([name, { value }]) => [name, value]));

/** Returns the topics of a change that the user may change. A user must not learn which others exist. */
async function topicsOf(
  tx: Queryable,
  userId: string,
  { keys, isOwn }: { readonly keys: readonly string[]; readonly isOwn: boolean },
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const rows = await tx.query(selectTopics({ userId, keys, isOwn }));
  return new Set(rows.map(({ key }) => key));
}

/** Removes choices for deleted topics. @throws Problem `validation_failed` if too many remain */
async function keepExistingTopics(tx: Queryable, after: { topics: Choices['topics'] }): Promise<void> {
  const existing = await existingTopics(tx, Object.keys(after.topics));
  after.topics = Object.fromEntries(Object.entries(after.topics).filter(([key]) => existing.has(key)));
  if (existing.size > maxChosenTopics) {
    throwIfErrors([{ field: 'topics', code: 'too_many_items', params: { max: maxChosenTopics } }]);
  }
}

const byCell = <Value>(valueFor: (name: CellName) => Value): Record<CellName, Value> => ({
  inbox: valueFor('inbox'),
  ...byChannel(valueFor),
});

const byChannel = <Value>(valueFor: (channel: StepChannel) => Value): Record<StepChannel, Value> => ({
  push: valueFor('push'),
  email: valueFor('email'),
  sms: valueFor('sms'),
});

/** What the user has chosen, and where messages can go. */
function preferencesView(
  { choices: stored, ...user }: UserRow,
  options: ViewOptions & { readonly suppressed: boolean; readonly all: readonly Category[] },
): PreferencesView {
  const { suppressed, all, language, times } = options;
  const choices = stored ?? noChoices;
  const addresses: PreferencesView['addresses'] = {};
  if (user.email !== null) addresses.email = !user.email_verified ? 'not_proven' : suppressed ? 'suppressed' : 'ok';
  if (user.phone !== null) addresses.sms = user.phone_verified ? 'ok' : 'not_proven';
  return {
    time_zone: choices.time_zone,
    quiet_hours: choices.quiet_hours,
    channels: byChannel((channel) => choices.channels[channel]?.value ?? 'on'),
    ...(times && { channels_chosen_at: byChannel((channel) => choices.channels[channel]?.chosen_at ?? null) }),
    topics: Object.fromEntries(Object.entries(choices.topics).map(([key, cells]) => [key, valuesOf(cells)])),
    addresses,
    categories: Object.fromEntries(all.map((each) => [each.name, categoryView(each, choices, { language, times })])),
  };
}

interface ViewOptions {
  readonly language: string;
  /** Whether it has the times of choices. */
  readonly times: boolean;
}

function categoryView(category: Category, choices: Choices, { language, times }: ViewOptions) {
  const own = choices.categories[category.name] ?? {};
  return {
    title: textFor(category.title, language) ?? category.name,
    description: textFor(category.description, language) ?? category.name,
    is_locked: category.is_critical,
    has_digest: category.digest !== null,
    cells: byCell((channel) => {
      const byDefault = category.defaults[channel];
      // A category that became critical ignores earlier choices.
      const chosen = category.is_critical ? undefined : own[channel];
      return {
        value: chosen?.value ?? byDefault,
        default: byDefault,
        is_chosen: chosen !== undefined,
        ...(times && { chosen_at: chosen?.chosen_at ?? null }),
      };
    }),
  };
}

/** Such as `22:00-07:00 mon,tue`. */
const quietText = (hours: Choices['quiet_hours']): string | null =>
  hours && [`${hours.from}-${hours.until}`, ...(hours.days === undefined ? [] : [hours.days.join(',')])].join(' ');

/** The cells that differ, for the audit log. */
function differences(before: Choices, after: Choices): EventChange[] {
  const changes: EventChange[] = [];
  const compare = (field: string, old: string | null | undefined, value: string | null | undefined) => {
    if (old !== value) changes.push({ field, before: old ?? null, after: value ?? null, withheld: false });
  };
  compare('time_zone', before.time_zone, after.time_zone);
  compare('quiet_hours', quietText(before.quiet_hours), quietText(after.quiet_hours));
  for (const channel of stepChannels) {
    compare(`channels.${channel}`, before.channels[channel]?.value, after.channels[channel]?.value);
  }
  for (const part of ['categories', 'topics'] as const) {
    for (const name of new Set([...Object.keys(before[part]), ...Object.keys(after[part])])) {
      for (const cell of cellNames) {
        compare(`${part}.${name}.${cell}`, before[part][name]?.[cell]?.value, after[part][name]?.[cell]?.value);
      }
    }
  }
  return changes;
}
