import type { Category, StepChannel } from '../../contract/category.js';
import { stepChannels } from '../../contract/category.js';
import { type PreferenceChanges, type QuietHours, weekdays } from '../../contract/preferences.js';
import { isJsonObject } from '../../lib/json-object.js';
import { nearest, truncateInput } from '../../lib/nearest.js';
import { choiceError, type FieldError } from '../../lib/problem.js';
import { isTimeZone } from '../../lib/times.js';
import type { CellChoice, ChannelChoice } from '../deliveries/decide.js';

/** The maximum number of topics for which a user has choices. */
export const maxChosenTopics = 1000;

/** The maximum number of categories for which a user's choices are kept: twice as many as can exist, to include deleted ones. */
const maxChosenCategories = 400;

/** What a user has chosen for a channel, and when: a time as in the API. */
export interface Choice<Value extends CellChoice = CellChoice> {
  readonly value: Value;
  readonly chosen_at: string;
}
/** What a user chooses for a category: its channels, and whether its notifications come to the inbox. */
export const cellNames = ['inbox', ...stepChannels] as const;
export type CellName = (typeof cellNames)[number];
export type ChannelChoices = Readonly<Partial<Record<StepChannel, Choice<ChannelChoice>>>>;
export type CategoryChoices = Readonly<Partial<Record<CellName, Choice>>>;

/** All that a user has chosen. */
export interface Choices {
  readonly time_zone: string | null;
  readonly quiet_hours: QuietHours | null;
  readonly channels: ChannelChoices;
  readonly categories: Readonly<Record<string, CategoryChoices>>;
  readonly topics: Readonly<Record<string, CategoryChoices>>;
}

export const noChoices: Choices = { time_zone: null, quiet_hours: null, channels: {}, categories: {}, topics: {} };

export const hasChoices = ({
  time_zone: zone,
  quiet_hours: quietHours,
  channels,
  categories,
  topics,
}: Choices): boolean =>
  zone !== null ||
  quietHours !== null ||
  [channels, categories, topics].some((chosen) => Object.keys(chosen).length > 0);

/** The names that are valid in the choices of a user. */
export interface KnownNames {
  readonly categories: Names;
  /** The names of time zones. */
  readonly zones: ReadonlySet<string>;
  /** The topics that the change may name. */
  readonly topics: ReadonlySet<string>;
}

interface Names {
  get(name: string): Pick<Category, 'is_critical' | 'digest'> | undefined;
  names(): readonly string[];
}

const isCell = (name: string): name is CellName => (cellNames as readonly string[]).includes(name);
const isChoice = (value: unknown): boolean => value === 'on' || value === 'off' || value === null;

const membersOf = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});

/** All faults of a change, except those of its form. Parts of a wrong form are skipped. */
export function changeErrors(
  changes: { readonly [Member in keyof PreferenceChanges]?: unknown },
  { categories: known, zones, topics }: KnownNames,
): FieldError[] {
  const errors: FieldError[] = [];
  const { time_zone: zone, quiet_hours: quietHours } = changes;
  if (typeof zone === 'string' && !(zones.has(zone) && isTimeZone(zone))) {
    errors.push({ field: 'time_zone', code: 'unknown_time_zone' });
  }
  if (isJsonObject(quietHours)) errors.push(...quietHoursErrors(quietHours));
  errors.push(...cellErrors(membersOf(changes.channels), { path: 'channels', names: stepChannels, digest: 'refused' }));
  for (const [name, cells] of Object.entries(membersOf(changes.categories))) {
    const field = `categories.${truncateInput(name)}`;
    const category = known.get(name);
    if (category === undefined) {
      const suggestion = nearest(name, known.names());
      errors.push({ field, code: 'unknown_category', params: suggestion === undefined ? {} : { suggestion } });
    } else if (!isJsonObject(cells)) errors.push({ field, code: 'invalid_type', params: { expected: 'object' } });
    else if (category.is_critical) errors.push({ field, code: 'category_is_critical' });
    else
      errors.push(
        ...cellErrors(cells, {
          path: field,
          names: cellNames,
          digest: category.digest === null ? 'missing' : 'possible',
        }),
      );
  }
  errors.push(...topicErrors(changes.topics, topics));
  return errors.slice(0, maxErrors);
}

const clockTime = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/;

function quietHoursErrors(hours: Readonly<Record<string, unknown>>): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['from', 'until'] as const) {
    const [field, value] = [`quiet_hours.${name}`, hours[name]];
    if (value === undefined) errors.push({ field, code: 'required' });
    else if (typeof value !== 'string' || !clockTime.test(value)) errors.push({ field, code: 'invalid_format' });
  }
  const { days } = hours;
  if (days !== undefined) errors.push(...dayErrors(days));
  if (errors.length > 0) return errors;
  return hours.from === hours.until || (Array.isArray(days) && days.length === 0)
    ? [{ field: 'quiet_hours', code: 'empty_window' }]
    : [];
}

function dayErrors(days: unknown): FieldError[] {
  const field = 'quiet_hours.days';
  if (!Array.isArray(days)) return [{ field, code: 'invalid_type', params: { expected: 'array' } }];
  const names: readonly unknown[] = weekdays;
  if (days.some((day) => !names.includes(day))) return [choiceError(field, weekdays)];
  return new Set(days).size < days.length ? [{ field, code: 'duplicate_items' }] : [];
}

/** Only the members that are known, in one order. */
function quietHoursOf({ from, until, days }: QuietHours): QuietHours {
  return { from, until, ...(days !== undefined && { days: weekdays.filter((day) => days.includes(day)) }) };
}

function topicErrors(topics: unknown, known: ReadonlySet<string>): FieldError[] {
  return Object.entries(membersOf(topics)).flatMap(([key, cells]): FieldError[] => {
    const field = `topics.${truncateInput(key)}`;
    if (!known.has(key)) return [{ field, code: 'unknown_topic' }];
    if (!isJsonObject(cells)) return [{ field, code: 'invalid_type', params: { expected: 'object' } }];
    return cellErrors(cells, { path: field, names: cellNames, digest: 'possible' });
  });
}

/** The most errors of one answer. */
const maxErrors = 100;

/** @param options.digest whether `digest` is allowed. For a topic it always is, because it depends on the category of each notification */
function cellErrors(
  cells: Readonly<Record<string, unknown>>,
  { path, names, digest }: { path: string; names: readonly string[]; digest: 'possible' | 'missing' | 'refused' },
): FieldError[] {
  return Object.entries(cells).flatMap(([channel, value]): FieldError[] => {
    const field = `${path}.${truncateInput(channel)}`;
    if (!names.includes(channel)) return [choiceError(field, names)];
    if (channel === 'email' && value === 'digest' && digest !== 'refused') {
      return digest === 'possible' ? [] : [{ field, code: 'no_digest' }];
    }
    return isChoice(value) ? [] : [choiceError(field, ['on', 'off', 'null'])];
  });
}

/**
 * The choices after a change. Only the cells that the change names differ, so the last write of each cell wins.
 * @param changes has passed `changeErrors`
 * @param now a time as in the API
 */
export function applyChanges(
  before: Choices,
  changes: PreferenceChanges,
  { now, known }: { now: string; known: Names },
) {
  const categories = mergeNamed(before.categories, changes.categories, now);
  return {
    time_zone: changes.time_zone === undefined ? before.time_zone : changes.time_zone,
    quiet_hours:
      changes.quiet_hours === undefined ? before.quiet_hours : changes.quiet_hours && quietHoursOf(changes.quiet_hours),
    // `digest` is refused for a whole channel.
    channels: mergeCells(before.channels, changes.channels ?? {}, now) as ChannelChoices,
    categories: withinLimit(categories, known),
    topics: mergeNamed(before.topics, changes.topics, now),
  } satisfies Choices;
}

function mergeNamed(
  before: Choices['categories'],
  changes: Readonly<Record<string, unknown>> | undefined,
  now: string,
): Choices['categories'] {
  const after: Record<string, CategoryChoices> = { ...before };
  for (const [name, cells] of Object.entries(changes ?? {})) {
    const merged = mergeCells(after[name] ?? {}, cells as Readonly<Record<string, unknown>>, now);
    if (Object.keys(merged).length === 0) delete after[name];
    else after[name] = merged;
  }
  return after;
}

function mergeCells(cells: CategoryChoices, changes: Readonly<Record<string, unknown>>, now: string): CategoryChoices {
  const merged: Partial<Record<CellName, Choice>> = { ...cells };
  for (const [channel, value] of Object.entries(changes)) {
    if (!isCell(channel)) continue;
    if (value === null) delete merged[channel];
    else if (value === 'on' || value === 'off' || value === 'digest') merged[channel] = { value, chosen_at: now };
  }
  return merged;
}

/** The categories, or the topics, of a change that say whether notifications come to the inbox. */
export const inboxChoicesOf = (changes: Readonly<Record<string, unknown>> = {}): string[] =>
  Object.entries(changes).flatMap(([name, cells]) => {
    const { inbox = null } = isJsonObject(cells) ? cells : {};
    return inbox === null ? [] : [name];
  });

/** Beyond the limit, the choices for deleted categories go, the oldest first. */
function withinLimit(categories: Readonly<Record<string, CategoryChoices>>, known: Names) {
  const excess = Object.keys(categories).length - maxChosenCategories;
  if (excess <= 0) return categories;
  const latest = (name: string) =>
    Object.values(categories[name] ?? {}).reduce((time, { chosen_at: at }) => (at > time ? at : time), '');
  const deleted = Object.keys(categories).filter((name) => known.get(name) === undefined);
  const gone = new Set(deleted.sort((a, b) => (latest(a) < latest(b) ? -1 : 1)).slice(0, excess));
  return Object.fromEntries(Object.entries(categories).filter(([name]) => !gone.has(name)));
}
