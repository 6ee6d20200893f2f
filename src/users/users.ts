import { changeOf } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { LockRequest, NewUser, User, UserChange } from '../contract/user.js';
import { maxRoles, roles } from '../contract/user-fields.js';
import { endChallenges } from '../credentials/challenges.js';
import { removeSecondFactors } from '../credentials/factors/second-factor-removal.js';
import { registerSchemes, type SchemeRules } from '../credentials/password-schemes.js';
import { type PasswordHasher, schemeOf } from '../credentials/passwords.js';
import { createPins, type Pins } from '../credentials/pins/pins.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { errorCodeOfUnreadableTime, parseTime } from '../lib/times.js';
import { clearGuesses } from '../limits/guess-budget.js';
import { applyPolicyOfRole, type LoginPolicies } from '../limits/login-policies.js';
import type { NoticeKind } from '../messages/kinds.js';
import { type Notices, noticesOfChange } from '../messages/notices.js';
import type { Counters } from '../statistics/counters.js';
import { changeEvents, creationChanges, invalidateByChange } from './change-effects.js';
import { createUserList, type ListUsers } from './list.js';
import {
  claimIdentities,
  countLogins,
  deleteUser,
  endGuest,
  findUser,
  findUserForUpdate,
  hadAddressLogin,
  insertUser,
  isFuture,
  type NewUserValues,
  releaseIdentities,
  toUser,
  type UserRow,
  type UserValues,
  updateUser,
} from './queries.js';
import {
  checkNewUser,
  type HashedFor,
  type Identities,
  identitiesToSet,
  type NewUserOptions,
  readIdentities,
  type SecretsFrom,
  type UserRules,
  userErrors,
} from './validation.js';
import { changedUserValues, newUserValues } from './values.js';

/** A new user, checked and hashed, ready to be inserted in a transaction. */
export interface PreparedUser {
  readonly id: string;
  readonly identities: Identities;
  readonly values: NewUserValues;
}

/** A change of one user, checked and hashed, ready to be written in a transaction. */
export interface PreparedChange {
  readonly identities: Identities;
  readonly values: UserValues;
  /** The roles of the app to add and to remove. Undefined if `values` has the complete list, or if the roles do not change. */
  readonly roleChange?: RoleChange | undefined;
}

type RoleChange = Exclude<NonNullable<UserChange['roles']>, string[]>;

/** The users, as operators see and change them. Each change records its events in the same transaction. */
export interface Users {
  /**
   * Checks a new user and hashes its secrets, outside any transaction.
   * @param id the id of the new user, if something such as a passkey was created for this id before. Undefined: a new id
   * @throws Problem `validation_failed` with all errors, `overloaded`
   */
  prepare(input: NewUser, id: string | undefined, options: NewUserOptions & HashedFor): Promise<PreparedUser>;
  /**
   * @param options.mayAddScheme whether an imported hash may have a scheme that no other user has
   * @throws Problem `identity_taken` with the fields, `validation_failed` (`too_many_schemes`, `schemes_too_expensive`),
   * `insufficient_scope`
   */
  create(
    tx: Queryable,
    prepared: PreparedUser,
    origin: Origin,
    options?: { readonly mayAddScheme: boolean },
  ): Promise<User>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<User>;
  readonly list: ListUsers;
  /**
   * Checks a change and hashes its secrets, outside any transaction. The hash of a PIN is bound to the user's id.
   * @throws Problem `validation_failed` with all errors, `overloaded`
   */
  prepareChange(id: string, change: UserChange, from: SecretsFrom & HashedFor): Promise<PreparedChange>;
  /**
   * Changes a user, and notifies this user of changed credentials. All logins end if the password is set or removed, or if the user is
   * deactivated.
   * @param noticeKind the kind of the one notice to send instead of the usual notices
   * @throws Problem `not_found`, `identity_taken`, `validation_failed` (`identity_required`, too many roles)
   */
  change(tx: Queryable, id: string, prepared: PreparedChange, origin: Origin, noticeKind?: NoticeKind): Promise<User>;
  /**
   * Deletes the user. The queue's job `user.erase` deletes the user's other rows, except the events.
   * @throws Problem `not_found`
   */
  remove(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /** Reads a user and locks the row until the transaction ends. @throws Problem `not_found` */
  getForUpdate(tx: Queryable, id: string): Promise<User>;
  /** @throws Problem `not_found`, `validation_failed` */
  lock(tx: Transaction, id: string, request: LockRequest, origin: Origin): Promise<User>;
  /** @throws Problem `not_found` */
  unlock(tx: Queryable, id: string, origin: Origin): Promise<User>;
  /**
   * Removes the authenticator app, the passkeys and the recovery codes.
   * @throws Problem `not_found`
   */
  removeSecondFactors(tx: Queryable, id: string, origin: Origin): Promise<User>;
  /**
   * Ends every login of the user.
   * @returns how many authentication tokens were valid until now
   * @throws Problem `not_found`
   */
  logout(tx: Queryable, id: string, origin: Origin): Promise<number>;
}

export interface UsersOptions extends UserRules {
  readonly database: Database;
  readonly hasher: PasswordHasher;
  readonly keys: SecretKeys;
  /**
   * The maximum time that imported hashes may add to a failed login. The unit is one verification of Postern's own hash.
   */
  readonly hashCostLimit: number;
  /** The maximum number of searches for users that run at the same time. The default is 2. */
  readonly searches?: number;
  /** How long logins last: a new role shortens those of its user. */
  readonly policies: LoginPolicies;
  /** Notifies users of changed credentials. */
  readonly notices?: Pick<Notices, 'notify'>;
  readonly counters?: Counters;
}

/** Creates the users as operators see them. */
export function createUsers(options: UsersOptions): Users {
  const { database } = options;
  const pins = createPins(options);
  const requireUser = async (row: Promise<UserRow | undefined>): Promise<UserRow> => {
    const user = await row;
    if (user === undefined) throw new Problem('not_found');
    return user;
  };
  return {
    prepare: (input, id = newId(), kind) => prepareUser(options, pins, input, id, kind),
    async create(tx, { id, identities, values }, origin, { mayAddScheme } = { mayAddScheme: false }) {
      // This comes first, so that a transaction that waits here holds no other lock.
      await registerScheme(tx, values.password_hash, { costLimit: options.hashCostLimit, canAddSchemes: mayAddScheme });
      const user = await insertUser(tx, id, values);
      await claim(tx, id, identities);
      await recordEvent(tx, { userId: id, type: 'user.created', origin, changes: creationChanges(values) });
      return toUser(user);
    },
    get: async (id) => toUser(await requireUser(findUser(database.user(id), id))),
    list: createUserList({ database, defaultRegion: options.defaultRegion, concurrency: options.searches ?? 2 }),
    prepareChange: (id, change, from) => prepareChange(options, pins, { id, change, from }),
    async change(tx, id, requested, origin, noticeKind) {
      const before = await requireUser(findUserForUpdate(tx, id));
      const prepared = withAllRoles(before, requested);
      const endLogins = await invalidateByChange(tx, before, prepared.values, origin);
      const after = await changeUser(tx, before, prepared, endLogins, origin);
      if (after.role !== before.role || prepared.values.roles !== undefined) {
        await applyPolicyOfRole(tx, id, options.policies);
      }
      const notices = noticesOfChange(before, prepared.values, noticeKind);
      for (const notice of notices) await options.notices?.notify(tx, { ...notice, userId: id, origin });
      return after;
    },
    async remove(tx, id, origin) {
      if (!(await deleteUser(tx, id))) throw new Problem('not_found');
      await recordEvent(tx, { userId: id, type: 'user.deleted', origin });
    },
    getForUpdate: async (tx, id) => toUser(await requireUser(findUserForUpdate(tx, id))),
    async lock(tx, id, request, origin) {
      const lock = readLock(request);
      const before = toUser(await requireUser(findUserForUpdate(tx, id)));
      if (lock.locked_until !== null && !(await isFuture(tx, lock.locked_until))) {
        throwIfErrors([{ field: 'until', code: 'time_in_past' }]);
      }
      const user = toUser(await updateUser(tx, id, lock));
      const changes = changeOf('lock', before.lock, user.lock);
      await recordEvent(tx, { userId: id, type: 'user.locked', origin, data: { ...user.lock }, changes });
      tx.onCommit(() => options.counters?.add('locks', 'operator'));
      return user;
    },
    async unlock(tx, id, origin) {
      const before = toUser(await requireUser(findUserForUpdate(tx, id)));
      await clearGuesses(tx, id);
      const user = toUser(await updateUser(tx, id, { lock_kind: null, locked_until: null, lock_reason: null }));
      const changes = [
        ...changeOf('lock', before.lock, user.lock),
        ...changeOf('guess_locks', before.guess_locks.length, user.guess_locks.length),
      ];
      await recordEvent(tx, { userId: id, type: 'user.unlocked', origin, changes });
      return user;
    },
    async removeSecondFactors(tx, id, origin) {
      await requireUser(findUserForUpdate(tx, id));
      await removeSecondFactors(tx, id, origin, options.notices);
      return toUser(await updateUser(tx, id, {}));
    },
    async logout(tx, id, origin) {
      await requireUser(findUserForUpdate(tx, id));
      const endedCount = await countLogins(tx, id);
      await updateUser(tx, id, {}, { endLogins: true });
      await endChallenges(tx, id);
      await recordEvent(tx, { userId: id, type: 'user.logged_out', origin, data: { ended: endedCount } });
      return endedCount;
    },
  };
}

async function prepareUser(
  options: UsersOptions,
  pins: Pins,
  input: NewUser,
  id: string,
  kind: NewUserOptions & HashedFor,
): Promise<PreparedUser> {
  const { identities, errors } = await checkNewUser(input, options, kind);
  throwIfErrors(errors);
  return { id, identities, values: await newUserValues({ hasher: options.hasher, pins }, id, input, identities, kind) };
}

/** @throws Problem with the reason why the hash may not be stored */
async function registerScheme(tx: Queryable, hash: string | null, rules: SchemeRules): Promise<void> {
  const refusal = hash === null ? undefined : await registerSchemes(tx, [schemeOf(hash)], rules);
  if (refusal !== undefined) throw refusal;
}

async function prepareChange(
  options: UsersOptions,
  pins: Pins,
  { id, change, from }: { readonly id: string; readonly change: UserChange; readonly from: SecretsFrom & HashedFor },
): Promise<PreparedChange> {
  const errors: FieldError[] = [];
  const identities = readIdentities(change, options, errors);
  const user = typeof change.password === 'string' ? await findUser(options.database.user(id), id) : undefined;
  errors.push(...(await userErrors(change, options, { ...user, ...change }, from)));
  errors.push(...roleErrors(change));
  throwIfErrors(errors);

  const { roles: appRoles, ...others } = change;
  const [roleChange, direct] = Array.isArray(appRoles) ? [undefined, change] : [appRoles, others];
  const values = await changedUserValues({ hasher: options.hasher, pins }, id, direct, identities, from);
  return { identities, values, roleChange };
}

function roleErrors({ roles: appRoles }: UserChange): FieldError[] {
  if (appRoles === undefined || Array.isArray(appRoles)) return [];
  const { add = [], remove = [] } = appRoles;
  const isAmbiguous = add.some((role) => remove.includes(role));
  return isAmbiguous ? [{ field: 'roles', code: 'duplicate_items' }] : [];
}

/** The change with all roles that the user then has. The user's row is locked. @throws Problem `validation_failed` */
function withAllRoles(before: UserRow, { roleChange, ...prepared }: PreparedChange): PreparedChange {
  if (roleChange === undefined) return prepared;
  const { add = [], remove = [] } = roleChange;
  const all = [...new Set([...before.roles, ...add])].filter((role) => !remove.includes(role)).toSorted();
  if (all.length > maxRoles) throwIfErrors([{ field: 'roles', code: 'too_many_items', params: { max: maxRoles } }]);
  return { ...prepared, values: { ...prepared.values, roles: JSON.stringify(all) } };
}

async function changeUser(
  tx: Queryable,
  before: UserRow,
  { identities, values }: PreparedChange,
  endLogins: boolean,
  origin: Origin,
): Promise<User> {
  const { username, email, phone } = { ...before, ...values };
  // A user who signed up with an account at a provider may never have had an identity.
  const hadIdentity = (before.username ?? before.email ?? before.phone) !== null;
  if (hadIdentity && (username ?? email ?? phone) === null) throwIfErrors([{ code: 'identity_required' }]);
  if (Object.keys(values).length === 0) return toUser(before);
  await releaseIdentities(tx, before.id, Object.keys(identities));
  await claim(tx, before.id, identities);
  if ((values.username ?? values.email ?? values.phone ?? values.password_hash) != null) await endGuest(tx, before.id);
  const verification = await verificationEffect(tx, before, values);
  const after = await updateUser(
    tx,
    before.id,
    { ...values, ...verification, ...roleEffect(before, values) },
    { endLogins },
  );
  for (const event of changeEvents(before, values)) await recordEvent(tx, { userId: before.id, origin, ...event });
  return toUser(after);
}

const addressTypes = ['email', 'phone'] as const;

/**
 * Returns the new values of the columns that say whether the addresses are proven. A new address counts as proven, unless the change says
 * otherwise. If the account loses a proven address and has had a login by an address, `had_address_login` records this. A recovery through
 * an unproven address is then refused.
 */
async function verificationEffect(tx: Queryable, before: UserRow, values: UserValues): Promise<UserValues> {
  const effect: { email_verified?: boolean; phone_verified?: boolean; had_address_login?: boolean } = {};
  let losesProven = false;
  for (const type of addressTypes) {
    const isNew = values[type] !== undefined && values[type] !== before[type];
    const verified = `${type}_verified` as const;
    if (isNew && values[verified] === undefined) effect[verified] = true;
    losesProven ||= before[verified] && (isNew || values[verified] === false);
  }
  if (losesProven && (await hadAddressLogin(tx, before.id))) effect.had_address_login = true;
  return effect;
}

/**
 * A role with more rights than before takes effect only after the user has enrolled or proved a second factor through an
 * enrollment link (decision 17).
 */
function roleEffect(before: UserRow, { role = before.role }: UserValues): UserValues {
  if (role === before.role) return {};
  const hasMoreRights = roles.indexOf(role) > roles.indexOf(before.role);
  if (!hasMoreRights && role !== 'user') return {};
  return { role_active_since: null, role_link_digest: null, role_link_expires_at: null };
}

async function claim(tx: Queryable, userId: string, identities: Identities): Promise<void> {
  const takenTypes = await claimIdentities(tx, userId, identitiesToSet(identities));
  if (takenTypes.length === 0) return;
  throw new Problem('identity_taken', { errors: takenTypes.map((field) => ({ field, code: 'identity_taken' })) });
}

type LockValues = Required<Pick<UserValues, 'lock_kind' | 'locked_until' | 'lock_reason'>>;

/** @throws Problem `validation_failed` unless the request has exactly one of `permanent` and a valid time */
export function readLock({ permanent, until, reason }: LockRequest): LockValues {
  const locked_until = until === undefined ? null : parseTime(until);
  const errors: FieldError[] = [];
  if (permanent === true && until !== undefined) {
    errors.push({ field: 'until', code: 'conflicting_fields', params: { fields: 'permanent, until' } });
  }
  if (permanent !== true && until === undefined) errors.push({ field: 'until', code: 'required' });
  if (locked_until === undefined) errors.push({ field: 'until', code: errorCodeOfUnreadableTime(until ?? '') });
  throwIfErrors(errors);
  return {
    lock_kind: permanent ? 'permanent' : 'temporary',
    locked_until: locked_until ?? null,
    lock_reason: reason ?? null,
  };
}
