import { recordServiceEvent } from '../audit/events.js';
import type { User } from '../contract/user.js';
import type { BulkRequest } from '../contract/users/bulk.js';
import type { Database } from '../database/database.js';
import { compose, sql, statement } from '../database/sql.js';
import { isExternalReference, type UserReferences } from '../identities/user-references.js';
import { collectFilter } from '../lib/filter/parse.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import type { UserListRequest } from './list.js';
import { isFuture } from './queries.js';
import { userFilterFields } from './search/fields.js';
import { readSearch } from './search/text.js';
import { readLock, type Users } from './users.js';

/** A user that a request names. */
interface Reference {
  /** The id of the user. Undefined if nobody has the external id. */
  readonly id: string | undefined;
  /** What the request has sent, if it is an external id. */
  readonly external?: string;
}

/** A checked bulk action. */
export interface BulkAction extends Pick<BulkRequest, 'action' | 'lock'> {
  /** The selected users: references to users, or the request of a list without its page. */
  readonly selection: { readonly references: readonly Reference[] } | Pick<UserListRequest, 'filter' | 'search'>;
  readonly isDryRun: boolean;
}

/** The caller of a bulk action. */
export interface BulkCaller {
  readonly origin: Origin;
  /** Throws if the caller may not change this user. */
  requireRightToChange(user: User): void;
  /** Called before each group of users is changed. Throws if the action must end. */
  recheck(): Promise<void>;
}

/** What happened to one user. Its effects are committed. */
export interface BulkOutcome {
  /** The id of the user. If nobody has the external id, this is the text that the request has sent. */
  readonly id: string;
  /** What the request has sent, if it named the user by an external id. */
  readonly reference?: string;
  readonly result: 'done' | 'unchanged' | 'valid' | Problem;
  readonly ended?: number;
  readonly user?: User;
}

/** Runs one action for many users, each in a separate transaction. */
export interface UserBulk {
  /** @throws Problem `validation_failed` with all errors */
  check(request: BulkRequest): Promise<BulkAction>;
  /**
   * Yields the outcomes of a few users at a time, and continues only when the caller asks for more. A repeated action
   * leaves users unchanged who are already in the wanted state.
   * @throws Problem when the database fails. The outcome for the current users is then unknown. Repeat the action to
   *   complete it.
   */
  run(action: BulkAction, caller: BulkCaller): AsyncGenerator<readonly BulkOutcome[]>;
}

/** The number of users that are changed at the same time. Each needs a connection. */
const concurrency = 4;
/** The number of users that are read at a time, if a list selects them. */
const pageSize = 100;

export interface UserBulkOptions {
  readonly database: Database;
  readonly users: Users;
  readonly references: UserReferences;
}

/** Creates bulk actions on users. */
export function createUserBulk({ database, users, references }: UserBulkOptions): UserBulk {
  const attemptAction = async (
    action: BulkAction,
    caller: BulkCaller,
    { id, external }: Reference,
  ): Promise<BulkOutcome> => {
    if (id === undefined) return { id: external ?? '', result: new Problem('not_found') };
    const reference = { id, ...(external !== undefined && { reference: external }) };
    try {
      return { ...reference, ...(await applyAction(database, users, { ...action, ...caller }, id)) };
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'storage_unavailable') throw error;
      const isRepeat = error.code === 'not_found' && action.action === 'delete' && (await wasDeleted(database, id));
      return { ...reference, result: isRepeat ? 'unchanged' : error };
    }
  };
  return {
    check: (request) => checkRequest(database, references, request),
    async *run(action, caller) {
      const { selection, isDryRun } = action;
      if (!isDryRun) {
        const data = { action: action.action, users: 'references' in selection ? selection.references.length : null };
        await recordServiceEvent(database, { type: 'users.bulk', origin: caller.origin, data });
      }
      for await (const selected of selectUsers(database, users, selection)) {
        for (let start = 0; start < selected.length; start += concurrency) {
          await caller.recheck();
          const batch = selected.slice(start, start + concurrency);
          const settled = await Promise.allSettled(batch.map((user) => attemptAction(action, caller, user)));
          // Reports the users whose changes are committed, even if the changes of others have failed.
          yield settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
          const failure = settled.find((result) => result.status === 'rejected');
          if (failure !== undefined) throw failure.reason;
        }
      }
    },
  };
}

/** The users in parts. A list is read from its oldest user on, because no bulk action changes this order. */
async function* selectUsers(
  database: Database,
  users: Users,
  selection: BulkAction['selection'],
): AsyncGenerator<readonly Reference[]> {
  if ('references' in selection) {
    yield selection.references;
    return;
  }
  // Users who are created during the action are not part of the list. Otherwise the list might have no end.
  const [clock] = await database.query(compose<{ now: string }>(sql`select db_now() as now`));
  const createdBefore = {
    name: 'created_at',
    field: { kind: 'time' },
    operator: 'lte',
    values: [clock?.now ?? ''],
  } as const;
  const request = {
    ...selection,
    filter: [...selection.filter, createdBefore],
    page: 1,
    limit: pageSize,
    sort: [{ field: 'created_at', direction: 'asc' }],
  } satisfies UserListRequest;
  let page = await users.list(request);
  for (;;) {
    if (page.items.length > 0) yield page.items.map(({ id }) => ({ id }));
    if (!page.hasMore || page.ends === undefined) return;
    page = await users.list({ ...request, anchor: { side: 'after', key: page.ends.last } });
  }
}

type Result = Omit<BulkOutcome, 'id'>;

async function applyAction(
  database: Database,
  users: Users,
  action: BulkAction & BulkCaller,
  id: string,
): Promise<Result> {
  if (action.action === 'export') {
    const user = await users.get(id);
    return action.isDryRun ? { result: 'valid' } : { result: 'done', user };
  }
  return database.user(id).transaction(async (tx): Promise<Result> => {
    const user = await users.getForUpdate(tx, id);
    action.requireRightToChange(user);
    // An operator must not be locked out by a list that happens to contain the operator.
    if (action.origin.actor === `user:${id}`)
      throw new Problem('validation_failed', { errors: [{ code: 'own_account' }] });
    if (isInTargetState(user, action)) return { result: 'unchanged' };
    if (action.isDryRun) return { result: 'valid' };
    const { origin, lock = {} } = action;
    switch (action.action) {
      case 'lock':
        await users.lock(tx, id, lock, origin);
        break;
      case 'unlock':
        await users.unlock(tx, id, origin);
        break;
      case 'logout':
        return { result: 'done', ended: await users.logout(tx, id, origin) };
      case 'delete':
        await users.remove(tx, id, origin);
        break;
      case 'activate':
      case 'deactivate':
        await users.change(tx, id, { identities: {}, values: { status: statusOf(action.action) } }, origin);
    }
    return { result: 'done' };
  });
}

const statusOf = (action: 'activate' | 'deactivate') => (action === 'activate' ? 'active' : 'deactivated');

/** Whether the user is in the state that the action leads to. A logout always ends logins that are in progress. */
function isInTargetState(user: User, { action, lock = {} }: BulkAction): boolean {
  switch (action) {
    case 'lock':
      return (
        user.lock !== null &&
        user.lock.permanent === (lock.permanent ?? false) &&
        user.lock.until === (lock.until ?? null) &&
        user.lock.reason === (lock.reason ?? null)
      );
    case 'unlock':
      return user.lock === null && user.guess_locks.length === 0;
    case 'activate':
    case 'deactivate':
      return user.status === statusOf(action);
    default:
      return false;
  }
}

const findDeletion = statement<{ userId: string }, { id: string }>(
  'user_bulk_deletion',
  (p) => sql`select id from events where user_id = ${p.userId} and type = 'user.deleted' limit 1`,
);

async function wasDeleted(database: Database, userId: string): Promise<boolean> {
  const deletions = await database.user(userId).query(findDeletion({ userId }));
  return deletions.length > 0;
}

/** Checks what the schema cannot express, and reads the filter, the search and the lock. */
async function checkRequest(database: Database, references: UserReferences, request: BulkRequest): Promise<BulkAction> {
  const { action, ids, search, filter, lock, dry_run: isDryRun = false } = request;
  const errors: FieldError[] = [];
  const [fields, hasList] = ['ids, search, filter', search !== undefined || filter !== undefined];
  if (ids !== undefined && hasList) errors.push({ field: 'ids', code: 'conflicting_fields', params: { fields } });
  if (ids === undefined && !hasList) errors.push({ code: 'one_required', params: { fields } });
  if (action === 'lock' && lock === undefined) errors.push({ field: 'lock', code: 'required' });
  if (action !== 'lock' && lock !== undefined) errors.push({ field: 'lock', code: 'not_supported' });
  const text = search === undefined ? undefined : readSearch(search, errors);
  const clauses = filter === undefined ? [] : collectFilter(filter, userFilterFields, errors);
  throwIfErrors(errors);
  const checkedLock = lock === undefined ? undefined : readLock(lock);
  if (typeof checkedLock?.locked_until === 'string' && !(await isFuture(database, checkedLock.locked_until))) {
    throwIfErrors([{ field: 'until', code: 'time_in_past' }]);
  }
  return {
    action,
    isDryRun,
    selection:
      ids === undefined
        ? { filter: clauses, ...(text !== undefined && { search: text }) }
        : { references: await readReferences(references, ids) },
    ...(lock !== undefined && {
      lock: { ...lock, ...(lock.until && { until: checkedLock?.locked_until ?? lock.until }) },
    }),
  };
}

/** The references to users, each user once, in the order of the request. */
async function readReferences(references: UserReferences, texts: readonly string[]): Promise<Reference[]> {
  const idsByText = await references.findAll(texts);
  const users = new Map<string, Reference>();
  for (const reference of texts) {
    const id = idsByText.get(reference);
    const key = id ?? reference;
    if (!users.has(key)) users.set(key, { id, ...(isExternalReference(reference) && { external: reference }) });
  }
  return [...users.values()];
}
