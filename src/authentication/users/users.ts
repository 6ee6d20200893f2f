import { type LockRequest, type NewUser, roles, type User, type UserChange } from '../../contract/user.js';
import type { Database, Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, refuseFaults } from '../../lib/problem.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { futureTimeFault, parseTime } from '../../lib/times.js';
import { type EventType, recordEvent } from '../events/events.js';
import { removeSecondFactors } from '../factors/second-factor-removal.js';
import { clearGuesses } from '../guess-budget.js';
import { type ListRequest, type Page, readPage } from '../listing.js';
import type { NoticeKind } from '../messages/kinds.js';
import { changedCredentials, type Notices } from '../messages/notices.js';
import { noteSchemes, type SchemeRules } from '../secrets/password-schemes.js';
import { type PasswordHasher, schemeOf } from '../secrets/passwords.js';
import { createPins, type Pins } from '../secrets/pins.js';
import { endChallenges } from '../self-service/challenges.js';
import { endWithChange } from './change-ends.js';
import {
  claimIdentities,
  countLogins,
  deleteUser,
  findUser,
  holdUser,
  insertUser,
  isFuture,
  type NewUserValues,
  releaseIdentities,
  toUser,
  type UserRow,
  type UserValues,
  updateUser,
  userColumns,
} from './queries.js';
import { resolveIdentities, splitGuessLocks } from './search.js';
import {
  checkNewUser,
  type Identities,
  readIdentities,
  shownIdentities,
  type UserRules,
  userFaults,
  wantedIdentities,
} from './validation.js';
import { newUserValues } from './values.js';

/** A new user, checked and hashed: all that is left to do belongs in a transaction. */
export interface PreparedUser {
  readonly id: string;
  readonly identities: Identities;
  readonly values: NewUserValues;
}

/** A change of one user, checked and hashed. */
export interface PreparedChange {
  readonly identities: Identities;
  readonly values: UserValues;
}

/** The users of the service, as operators see and change them. Acts are written down in the transaction they happen in. */
export interface Users {
  /**
   * Checks and hashes, outside any transaction.
   * @throws Problem `validation_failed` naming every fault, `overloaded`
   */
  prepare(input: NewUser): Promise<PreparedUser>;
  /**
   * @param options.mayAddScheme whether an imported hash may have a scheme that no other user has
   * @throws Problem `identity_taken` naming the fields, `validation_failed` (`too_many_schemes`, `schemes_too_expensive`),
   *   `insufficient_scope`
   */
  create(
    tx: Queryable,
    prepared: PreparedUser,
    origin: Origin,
    options?: { readonly mayAddScheme: boolean },
  ): Promise<User>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<User>;
  list(request: ListRequest): Promise<Page<User>>;
  /**
   * Checks and hashes, outside any transaction. A PIN's hash is bound to the user: hence the id.
   * @throws Problem `validation_failed` naming every fault, `overloaded`
   */
  prepareChange(id: string, change: UserChange): Promise<PreparedChange>;
  /**
   * A new or removed password and deactivation end every login of the user, who is told of changed credentials.
   * @param as what the user is told that it was, instead
   * @throws Problem `not_found`, `identity_taken`, `validation_failed` (`identity_required`)
   */
  change(tx: Queryable, id: string, prepared: PreparedChange, origin: Origin, as?: NoticeKind): Promise<User>;
  /**
   * Removes the user; what else the user had is left to the queue's job `user.erase`, but for the events.
   * @throws Problem `not_found`
   */
  remove(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /** The user as it is until the transaction ends, for what depends on it. @throws Problem `not_found` */
  hold(tx: Queryable, id: string): Promise<User>;
  /** @throws Problem `not_found`, `validation_failed` */
  lock(tx: Queryable, id: string, request: LockRequest, origin: Origin): Promise<User>;
  /** @throws Problem `not_found` */
  unlock(tx: Queryable, id: string, origin: Origin): Promise<User>;
  /**
   * Removes the authenticator app, the passkeys and the recovery codes.
   * @throws Problem `not_found`
   */
  removeSecondFactors(tx: Queryable, id: string, origin: Origin): Promise<User>;
  /**
   * Ends every login of the user.
   * @returns how many authentication tokens were good until now.
   * @throws Problem `not_found`
   */
  logout(tx: Queryable, id: string, origin: Origin): Promise<number>;
}

export interface UsersOptions extends UserRules {
  readonly database: Database;
  readonly hasher: PasswordHasher;
  readonly keys: SecretKeys;
  /** What the schemes of imported hashes may cost a failed login, in verifications of Postern's own hash. */
  readonly hashCostLimit: number;
  /** Tells users of credentials that were changed. */
  readonly notices?: Pick<Notices, 'notify'>;
  /** Runs in the transaction that ends or suspends a user's sessions, so that a notification it sends leaves with the commit. */
  readonly onRevoked?: (tx: Queryable, userId: string) => Promise<void>;
}

export function createUsers(options: UsersOptions): Users {
  const { database, onRevoked } = options;
  const pins = createPins(options);
  const found = async (row: Promise<UserRow | undefined>): Promise<UserRow> => {
    const user = await row;
    if (user === undefined) throw new Problem('not_found');
    return user;
  };
  return {
    prepare: (input) => prepareUser(options, pins, input),
    async create(tx, { id, identities, values }, origin, { mayAddScheme } = { mayAddScheme: false }) {
      // First: who waits here holds nothing that another waits for.
      await noteScheme(tx, values.password_hash, { costLimit: options.hashCostLimit, mayAdd: mayAddScheme });
      const user = await insertUser(tx, id, values);
      await claim(tx, id, identities);
      await recordEvent(tx, { userId: id, type: 'user.created', origin });
      return toUser(user);
    },
    get: async (id) => toUser(await found(findUser(database, id))),
    async list(request) {
      const { filter: named, where } = splitGuessLocks(request.filter);
      const filter = await resolveIdentities(database, named, options.defaultRegion);
      const source = { columns: userColumns, from: 'users u', where };
      const page = await readPage<UserRow>(database, source, { ...request, filter });
      return { ...page, items: page.items.map(toUser) };
    },
    prepareChange: (id, change) => prepareChange(options, pins, id, change),
    async change(tx, id, prepared, origin, as) {
      const before = await found(holdUser(tx, id));
      const endLogins = await endWithChange(tx, before, prepared.values, origin);
      const after = await changeUser(tx, before, prepared, endLogins, origin);
      const facts = changedCredentials(before, prepared.values, as);
      for (const fact of facts) await options.notices?.notify(tx, { ...fact, userId: id, origin });
      if (endLogins) await onRevoked?.(tx, id);
      return after;
    },
    async remove(tx, id, origin) {
      if (!(await deleteUser(tx, id))) throw new Problem('not_found');
      await recordEvent(tx, { userId: id, type: 'user.deleted', origin });
      await onRevoked?.(tx, id);
    },
    hold: async (tx, id) => toUser(await found(holdUser(tx, id))),
    async lock(tx, id, request, origin) {
      const lock = readLock(request);
      await found(holdUser(tx, id));
      if (lock.locked_until !== null && !(await isFuture(tx, lock.locked_until))) {
        refuseFaults([{ field: 'until', code: 'time_in_past' }]);
      }
      const user = toUser(await updateUser(tx, id, lock));
      await recordEvent(tx, { userId: id, type: 'user.locked', origin, data: { ...user.lock } });
      await onRevoked?.(tx, id);
      return user;
    },
    async unlock(tx, id, origin) {
      await found(holdUser(tx, id));
      await clearGuesses(tx, id);
      const user = await updateUser(tx, id, { lock_kind: null, locked_until: null, lock_reason: null });
      await recordEvent(tx, { userId: id, type: 'user.unlocked', origin });
      return toUser(user);
    },
    async removeSecondFactors(tx, id, origin) {
      await found(holdUser(tx, id));
      await removeSecondFactors(tx, id, origin, options.notices);
      return toUser(await updateUser(tx, id, {}));
    },
    async logout(tx, id, origin) {
      await found(holdUser(tx, id));
      const ended = await countLogins(tx, id);
      await updateUser(tx, id, {}, { endLogins: true });
      await endChallenges(tx, id);
      await recordEvent(tx, { userId: id, type: 'user.logged_out', origin, data: { ended } });
      await onRevoked?.(tx, id);
      return ended;
    },
  };
}

async function prepareUser(options: UsersOptions, pins: Pins, input: NewUser): Promise<PreparedUser> {
  const { identities, faults } = await checkNewUser(input, options);
  refuseFaults(faults);
  const id = newId();
  return { id, identities, values: await newUserValues({ hasher: options.hasher, pins }, id, input, identities) };
}

/** @throws Problem why the hash may not be stored */
async function noteScheme(tx: Queryable, hash: string | null, rules: SchemeRules): Promise<void> {
  const refusal = hash === null ? undefined : await noteSchemes(tx, [schemeOf(hash)], rules);
  if (refusal !== undefined) throw refusal;
}

async function prepareChange(
  options: UsersOptions,
  pins: Pins,
  id: string,
  change: UserChange,
): Promise<PreparedChange> {
  const faults: FieldError[] = [];
  const identities = readIdentities(change, options, faults);
  faults.push(...(await userFaults(change, options)));
  refuseFaults(faults);

  const { name, locale, status, role, password, pin, second_factor, metadata } = change;
  const values = {
    ...shownIdentities(identities),
    ...(name !== undefined && { name }),
    ...(locale !== undefined && { locale }),
    ...(status !== undefined && { status }),
    ...(role !== undefined && { role }),
    ...(second_factor !== undefined && { second_factor }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(password !== undefined && { password_hash: password === null ? null : await options.hasher.hash(password) }),
    ...(pin !== undefined && { pin_hash: pin === null ? null : await pins.hash(id, pin) }),
  };
  return { identities, values };
}

async function changeUser(
  tx: Queryable,
  before: UserRow,
  { identities, values }: PreparedChange,
  endLogins: boolean,
  origin: Origin,
): Promise<User> {
  const { username, email, phone } = { ...before, ...values };
  if (username === null && email === null && phone === null) refuseFaults([{ code: 'identity_required' }]);
  if (Object.keys(values).length === 0) return toUser(before);
  await releaseIdentities(tx, before.id, Object.keys(identities));
  await claim(tx, before.id, identities);
  const after = await updateUser(tx, before.id, { ...values, ...roleEffect(before, values) }, { endLogins });
  for (const event of eventsOf(before, values)) await recordEvent(tx, { userId: before.id, origin, ...event });
  return toUser(after);
}

/** A role that reaches further takes effect once a second factor was enrolled, or shown, through a link of its own. */
function roleEffect(before: UserRow, { role = before.role }: UserValues): UserValues {
  if (role === before.role) return {};
  const reach = (one: User['role']) => roles.indexOf(one);
  if (reach(role) <= reach(before.role) && role !== 'user') return {};
  return { role_active_since: null, role_link_digest: null, role_link_expires_at: null };
}

async function claim(tx: Queryable, userId: string, identities: Identities): Promise<void> {
  const taken = await claimIdentities(tx, userId, wantedIdentities(identities));
  if (taken.length === 0) return;
  throw new Problem('identity_taken', { errors: taken.map((field) => ({ field, code: 'identity_taken' })) });
}

/** What a change is called in the audit trail. Names of fields only: old and new values are the user's own business. */
function eventsOf(before: UserRow, values: UserValues): { type: EventType; data?: Record<string, unknown> }[] {
  const { password_hash, pin_hash, status, ...others } = values;
  const fields = Object.keys(others);
  const statusEvent = status === 'deactivated' ? 'user.deactivated' : 'user.reactivated';
  return [
    ...(fields.length > 0 ? [{ type: 'user.changed' as const, data: { fields } }] : []),
    ...(password_hash !== undefined ? [{ type: 'user.password_changed' as const }] : []),
    ...(pin_hash !== undefined ? [{ type: 'user.pin_changed' as const }] : []),
    ...(status !== undefined && status !== before.status ? [{ type: statusEvent } as const] : []),
  ];
}

type LockValues = Required<Pick<UserValues, 'lock_kind' | 'locked_until' | 'lock_reason'>>;

/** @throws Problem `validation_failed` unless exactly one of `permanent` and a time that exists is asked for. */
function readLock({ permanent, until, reason }: LockRequest): LockValues {
  const locked_until = until === undefined ? null : parseTime(until);
  const faults: FieldError[] = [];
  if (permanent === true && until !== undefined) {
    faults.push({ field: 'until', code: 'conflicting_fields', params: { fields: 'permanent, until' } });
  }
  if (permanent !== true && until === undefined) faults.push({ field: 'until', code: 'required' });
  if (locked_until === undefined) faults.push({ field: 'until', code: futureTimeFault(until ?? '') });
  refuseFaults(faults);
  return {
    lock_kind: permanent ? 'permanent' : 'temporary',
    locked_until: locked_until ?? null,
    lock_reason: reason ?? null,
  };
}
