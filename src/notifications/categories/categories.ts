import { createHash } from 'node:crypto';
import {
  type Category,
  type CategoryChanges,
  type CategoryInput,
  type MessagePreview,
  type MessagePreviewRequest,
  maxCategories,
  type NamedCategoryInput,
} from '../../contract/category.js';
import { timeText } from '../../database/clock.js';
import type { Handle, Queryable, Transaction } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { watchCopy } from '../../database/watched-copy.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { Origin } from '../../lib/origin.js';
import type { Pacer } from '../../lib/pacing.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import { TemplateTooLarge } from '../templates/render.js';
import { renderMessage } from '../templates/templates.js';
import { allCategories, changesBetween, completeCategory } from './category.js';
import { type CategoryRules, categoryErrors, isCategoryName, maxSetBytes, setErrors } from './check.js';
import { type CheckData, createDataCheck, isTooLong, lengthErrors } from './data-schema.js';

/** The categories in the memory of this process. */
export interface KnownCategories {
  /** Undefined if no category has the name. */
  get(name: string): Category | undefined;
  /** The names of all categories, in order. */
  names(): readonly string[];
  /**
   * Whether a category is hidden from inboxes by default. Null if everybody sees it: it is critical, or it is shown by default and nobody
   * has hidden it.
   */
  isHidden(name: string): boolean | null;
  /**
   * Notes that a user has made a choice about the inbox for these categories. Then publications read the choices, on all instances within
   * two seconds.
   */
  noteInboxChoices(tx: Transaction, names: readonly string[]): Promise<void>;
  /** The errors of `data` for the schema of a category; empty if it has none, or if `data` is too long to be checked. */
  dataErrors(name: string, ...parameters: Parameters<CheckData>): FieldError[];
  /**
   * Reads the categories again if one of the names is unknown: another instance may have just created it.
   * @param handle the transaction of the caller, if there is one, so that no second connection is needed
   */
  refreshFor(handle: Queryable, names: Iterable<string>): Promise<void>;
}

/** All categories. The tag changes whenever a category changes. */
export interface CategorySet {
  readonly categories: readonly Category[];
  readonly tag: string;
}

/** The categories as operators see and change them. If a method with the parameter `tx` throws, the caller must roll back. */
export interface Categories {
  readonly known: KnownCategories;
  list(): Promise<CategorySet>;
  /** @throws Problem `not_found` */
  find(name: string): Promise<Category>;
  /** The faults in the body of a request, except those of its form: of all categories, or of one. */
  errorsOf(body: unknown): Promise<FieldError[]>;
  /**
   * Replaces all categories. If the category of a notification type is missing, it gets the defaults.
   * @param isExpected checks the tag of the categories before the change
   * @returns the differences
   * @throws Problem `validation_failed`, `precondition_failed`
   */
  replace(
    tx: Transaction,
    inputs: readonly NamedCategoryInput[],
    change: CategoryChange & { readonly isExpected: (tag: string) => boolean },
  ): Promise<{ readonly changes: CategoryChanges; readonly tag: string }>;
  /** Creates or replaces one category. @throws Problem `validation_failed` */
  put(
    tx: Transaction,
    name: string,
    input: CategoryInput,
    origin: Origin,
  ): Promise<{ readonly category: Category; readonly isNew: boolean }>;
  /** @throws Problem `not_found`; `category_built_in` if it belongs to a notification type */
  remove(tx: Transaction, name: string, origin: Origin): Promise<void>;
  /** The message that a channel would send. @throws Problem `not_found`, `validation_failed` */
  preview(name: string, request: MessagePreviewRequest): Promise<MessagePreview>;
  /** Waits until this process has read the changes. If that fails, the process reads them later. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

export interface CategoryChange {
  readonly origin: Origin;
  /** Whether to return the differences and write nothing. */
  readonly isDryRun: boolean;
}

export interface CategoriesOptions extends CategoryRules {
  readonly database: Handle;
  readonly types: readonly string[];
  readonly pacer: Pacer;
  /** The name of the app, for templates. */
  readonly app: string;
  /** Records a change in the transaction that makes it. */
  readonly record: (tx: Queryable, origin: Origin, changes: CategoryChanges) => Promise<void>;
  /** Called when the categories could not be read. The process keeps the known ones. */
  readonly onError: (error: Error) => void;
  /** Milliseconds between two reads. */
  readonly interval?: number | undefined;
}

const findVersion = statement<object, { version: string }>(
  'categories_version',
  () => sql`select version::text from notification_categories`,
);
const findCategories = statement<object, CategoriesRow & { version: string }>(
  'categories',
  () => sql`select version::text, categories, inbox_choices from notification_categories`,
);
const noteChoices = statement<{ names: readonly string[] }>(
  'categories_inbox_choices',
  (p) => sql`
    update notification_categories
    set inbox_choices = array(select distinct unnest(inbox_choices || ${p.names}::text[])),
        version = pg_current_xact_id()::text::bigint
    where not inbox_choices @> ${p.names}::text[]`,
);

interface CategoriesRow {
  readonly categories: Category[];
  readonly inbox_choices: string[];
}
const lockCategories = statement<object, { categories: Category[] }>(
  'categories_lock',
  () => sql`select categories from notification_categories for update`,
);
/** The maximum number of deleted categories whose choices are removed later. */
const maxDeleted = 1000;
/** Notes when categories were deleted. If one is created again soon, the choices of users apply again. */
const writeCategories = statement<{ categories: string; created: readonly string[]; deleted: readonly string[] }>(
  'categories_write',
  (p) => sql`
    update notification_categories
    set categories = ${p.categories}::jsonb, version = pg_current_xact_id()::text::bigint,
        deleted = (
          select coalesce(jsonb_object_agg(name, time), '{}')
          from (
            select name, time from jsonb_each_text(deleted - ${p.created}::text[] || coalesce((
              select jsonb_object_agg(name, ${timeText(sql`db_now()`)}) from unnest(${p.deleted}::text[]) name), '{}')
            ) each (name, time)
            order by time desc limit ${literal(maxDeleted)}) newest)`,
);

type ByName = ReadonlyMap<string, Category>;

interface WatchedCategories {
  readonly known: KnownCategories;
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/** Reads the categories into memory, and follows their changes until it is stopped. */
async function watchCategories({
  database,
  types,
  onError,
  interval,
}: Pick<CategoriesOptions, 'database' | 'types' | 'onError' | 'interval'>): Promise<WatchedCategories> {
  let version = '';
  let copy = createCopy(allCategories([], types), []);
  async function read(handle: Queryable): Promise<void> {
    const [current] = await handle.query(findVersion({}));
    if (current?.version === version) return;
    const [row] = await handle.query(findCategories({}));
    copy = createCopy(allCategories(row?.categories ?? [], types), row?.inbox_choices ?? []);
    version = row?.version ?? '';
  }
  const watch = await watchCopy(() => read(database), onError, interval);
  const known: KnownCategories = {
    get: (name) => copy.byName.get(name),
    names: () => [...copy.byName.keys()],
    isHidden: (name) => copy.isHidden(name),
    async noteInboxChoices(tx, names) {
      if (names.every((name) => copy.inboxChoices.has(name))) return;
      await tx.query(noteChoices({ names }));
      // This process reads the choices from now on, and the others when they read the new version.
      tx.onCommit(() => {
        copy = createCopy(copy.byName, [...copy.inboxChoices, ...names]);
      });
    },
    dataErrors(name, data, field) {
      const check = copy.checkOf(name);
      return check === undefined || isTooLong(data) ? [] : check(data, field);
    },
    async refreshFor(handle, names) {
      // Not `watch.refresh()`, because it waits for reads on other connections. If this result is older, the next read of `watch` replaces
      // it.
      for (const name of names) if (!copy.byName.has(name)) return read(handle);
    },
  };
  return { known, refresh: () => watch.refresh().catch(onError), stop: watch.stop };
}

/** Creates the categories for operators, and the copy in memory. */
export async function startCategories(options: CategoriesOptions): Promise<Categories> {
  const { database, types, pacer, record } = options;
  const watched = await watchCategories(options);

  /** The categories of the database. */
  async function readAll(handle: Queryable): Promise<ByName> {
    const [row] = await handle.query(findCategories({}));
    return allCategories(row?.categories ?? [], types);
  }
  async function lockAll(tx: Queryable): Promise<ByName> {
    const [row] = await tx.query(lockCategories({}));
    return allCategories(row?.categories ?? [], types);
  }
  async function find(handle: Queryable, name: string): Promise<Category> {
    const category = (await readAll(handle)).get(name);
    if (category === undefined) throw new Problem('not_found');
    return category;
  }
  /** Writes the categories that come after the locked ones. */
  async function write(tx: Queryable, { before, after }: Record<'before' | 'after', ByName>, origin: Origin) {
    const changes = changesBetween(before, after);
    const stored = JSON.stringify(
      [...after.values()].filter((category) => !types.includes(category.name) || isChanged(category)),
    );
    await tx.query(writeCategories({ categories: stored, created: changes.created, deleted: changes.deleted }));
    await record(tx, origin, changes);
    return changes;
  }
  const isChanged = (category: Category) =>
    changesBetween(allCategories([], [category.name]), new Map([[category.name, category]])).changed.length > 0;

  return {
    ...watched,
    async list() {
      const all = await readAll(database);
      return { categories: [...all.values()], tag: tagOf(all) };
    },
    find: (name) => find(database, name),
    errorsOf: (body) =>
      Array.isArray(body) ? setErrors(body, options, pacer.begin()) : categoryErrors(body, options, pacer.begin()),
    async replace(tx, inputs, { origin, isDryRun, isExpected }) {
      const before = isDryRun ? await readAll(tx) : await lockAll(tx);
      if (!isExpected(tagOf(before))) throw new Problem('precondition_failed');
      const after = allCategories(
        inputs.map((input) => completeCategory(input.name, input)),
        types,
      );
      throwIfErrors(limitErrors(after));
      if (isDryRun) return { changes: changesBetween(before, after), tag: tagOf(before) };
      return { changes: await write(tx, { before, after }, origin), tag: tagOf(after) };
    },
    async put(tx, name, input, origin) {
      const before = await lockAll(tx);
      const category = completeCategory(name, input);
      const after = new Map([...before, [name, category]]);
      throwIfErrors([...nameErrors(name, input), ...limitErrors(after)]);
      await write(tx, { before, after }, origin);
      return { category, isNew: !before.has(name) };
    },
    async remove(tx, name, origin) {
      const before = await lockAll(tx);
      if (!before.has(name)) throw new Problem('not_found');
      if (types.includes(name)) throw new Problem('category_built_in');
      const after = new Map([...before].filter(([each]) => each !== name));
      await write(tx, { before, after }, origin);
    },
    preview: async (name, request) => renderPreview(await find(database, name), request, options.app),
  };
}

/** Reads the categories once, for a command. */
export async function readCategories(database: Handle, types: readonly string[]): Promise<KnownCategories> {
  const { known, stop } = await watchCategories({ database, types, onError: () => undefined });
  await stop();
  return known;
}

/** The name of the user in previews. */
const exampleUser = 'Ada Lovelace';

const inboxOffUnread = {
  code: 'inbox_off_unread',
  message: 'With the inbox off, a notification counts as read: steps with unread do not go.',
} as const;

/** @throws Problem `validation_failed` */
function renderPreview(
  { templates, data_schema: schema, steps, defaults }: Category,
  { channel, locale = 'en', notification }: MessagePreviewRequest,
  app: string,
): MessagePreview {
  const { actor = null, description, url = null, data = null } = notification;
  throwIfErrors(lengthErrors(data, 'notification.data'));
  if (schema !== null) throwIfErrors(createDataCheck(schema)(data, 'notification.data'));
  const values = { actor, description, url, data, user: { name: exampleUser }, app };
  try {
    const message = renderMessage(templates, { channel, locale, timeZone: 'UTC' }, values);
    const isNeverUnread = defaults.inbox === 'off' && steps.some((step) => step.if === 'unread');
    return { ...message, warnings: isNeverUnread ? [inboxOffUnread] : [] };
  } catch (error) {
    if (!(error instanceof TemplateTooLarge)) throw error;
    throw new Problem('validation_failed', { errors: [{ field: 'notification', code: 'template_too_large' }] });
  }
}

/** Compiles the schema of a category when it is first used. @param chosen the categories with choices about the inbox */
function createCopy(byName: ByName, chosen: Iterable<string>) {
  const checks = new Map<string, CheckData>();
  const inboxChoices: ReadonlySet<string> = new Set(chosen);
  return {
    byName,
    inboxChoices,
    isHidden(name: string): boolean | null {
      const { is_critical: isCritical = false, defaults } = byName.get(name) ?? {};
      const isOff = defaults?.inbox === 'off';
      return isCritical || !(isOff || inboxChoices.has(name)) ? null : isOff;
    },
    checkOf(name: string): CheckData | undefined {
      const schema = byName.get(name)?.data_schema ?? null;
      if (schema === null) return undefined;
      const check = checks.get(name) ?? createDataCheck(schema);
      checks.set(name, check);
      return check;
    },
  };
}

function nameErrors(name: string, input: CategoryInput): FieldError[] {
  if (!isCategoryName(name)) return [{ field: 'name', code: 'invalid_format' }];
  return input.name !== undefined && input.name !== name ? [{ field: 'name', code: 'not_of_path' }] : [];
}

function limitErrors(categories: ByName): FieldError[] {
  if (categories.size > maxCategories) return [{ code: 'too_many_items', params: { max: maxCategories } }];
  const bytes = Buffer.byteLength(JSON.stringify([...categories.values()]));
  return bytes > maxSetBytes ? [{ code: 'too_many_bytes', params: { max: maxSetBytes } }] : [];
}

/** A strong ETag (RFC 9110, section 8.8.3) of all categories. */
function tagOf(categories: ByName): string {
  // The database does not keep the order of members.
  const sorted = (_: string, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  const digest = createHash('sha256')
    .update(JSON.stringify([...categories.values()], sorted))
    .digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}
