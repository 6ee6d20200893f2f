import type { SecondFactors } from '../../credentials/factors/second-factor.js';
import type { Database } from '../../database/database.js';
import { lockProblem } from '../../identities/accounts.js';
import type { Identity } from '../../identities/identity.js';
import { Problem } from '../../lib/problem.js';
import { findBlock } from '../../limits/admission/blocks.js';
import { type GuessBudget, guessLockProblem } from '../../limits/guess-budget.js';
import { readGuessState } from '../../limits/guess-state.js';
import { readRequestLimits, type UsedUpLimit } from '../../limits/limit-states.js';
import { overLimitProblem, type RequestLimits } from '../../limits/request-limits.js';
import { blocker, type Check, type Finding, note, refusalWith } from './finding.js';
import { type RemediedUser, remedies } from './remedies.js';
import { lastEventAt, type Subject } from './subject.js';

/** The rules that concern every way to log in to an account. */
export interface AccountChecks {
  /** A block of the client's address, or the limit of the address. @param requestNumber 1 for the first request of the login, 2 for the second */
  address(requestNumber: number): Check | undefined;
  /**
   * The limit of the account. If the login starts without a user, this limit counts fewer requests of the login than
   * the limit of the address.
   */
  account(requestNumber: number): Check | undefined;
  readonly guessLock: Check | undefined;
  /** The reason if there is no user, or only a deactivated one. */
  readonly noActiveUser: Finding | undefined;
  readonly operatorLock: Check | undefined;
  readonly notes: readonly Finding[];
}

export interface AccountCheckOptions {
  readonly database: Database;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly secondFactors: SecondFactors;
}

/** The requests of the longest login: two steps and a second factor. */
const positions = [1, 2, 3];

/** Reads the rules that concern every way to log in to an account. It changes nothing. */
export async function checkAccount(
  options: AccountCheckOptions,
  subject: Subject,
  request: { readonly identity: Identity | undefined; readonly address: string | undefined },
): Promise<AccountChecks> {
  const { database, guesses } = options;
  const { userId, knownDevice } = subject;
  const loginLimits = await readLoginLimits(options, subject, request.address);
  const block = request.address === undefined ? undefined : await blockOf(database, request.address);
  const guess = await readGuessState(database.user(userId), { userId, knownDevice }, guesses.limitValues);
  const refusal = guessLockProblem(guess.attempt);
  const { since, until, failures, locks, failuresToPermanent: failures_to_permanent } = guess;
  const lock = {
    since,
    until,
    data: { failures, locks, failures_to_permanent },
    remedies: subject.user === undefined ? [] : [remedies.resetBudget(remediedUser(subject))],
  };
  const code = knownDevice === undefined ? 'new_devices_locked_by_guesses' : 'device_locked_by_guesses';
  return {
    address: (position) => block ?? loginLimits.address(position),
    account: (position) => loginLimits.account(position),
    guessLock: refusal && { finding: blocker(code, lock), refusal: refusalWith(refusal), concernsEveryWay: true },
    noActiveUser: await findNoActiveUser(options, subject, request.identity),
    operatorLock: await operatorLockOf(options, subject),
    notes: [
      ...(guess.attempt.outcome === 'busy' ? [note('guesses_in_progress')] : []),
      ...notesOf(options.secondFactors, subject),
    ],
  };
}

/** The user as the target of remedies. */
export function remediedUser({ userId, user }: Subject): RemediedUser {
  return { id: userId, hasRole: user !== undefined && user.account.role !== 'user' };
}

/** The block of an address. It refuses every request of every login. */
async function blockOf(database: Database, address: string): Promise<Check | undefined> {
  const block = await findBlock(database, address);
  if (block === undefined) return undefined;
  const { id, network, reason, created_at: since, ends_at: until } = block;
  const data = { block_id: id, network, ...(reason !== null && { reason }) };
  const refusal = refusalWith(new Problem('address_blocked'));
  return { finding: blocker('address_blocked', { since, until, data }), refusal, concernsEveryWay: true };
}

async function readLoginLimits(
  { database, limits }: AccountCheckOptions,
  { userId, knownDevice }: Subject,
  address: string | undefined,
) {
  const ofAccount = limits.counts.loginsTo(userId, knownDevice);
  const queries = positions.map((position) => ({ ...ofAccount, position }));
  if (address !== undefined) {
    const ofAddress = limits.counts.loginsFrom(address);
    queries.push(...positions.map((position) => ({ ...ofAddress, position })));
  }
  const states = await readRequestLimits(database, queries);
  const setting = [remedies.configure('LOGIN_LIMIT_PER_ADDRESS')];
  // A limit that refuses only a later step of the login concerns only the ways that have such a step.
  const checkOf = (code: 'account_limit' | 'address_limit', limit: UsedUpLimit | undefined, position: number) => {
    const refusal = overLimitProblem(limit?.wait);
    if (limit === undefined || refusal === undefined) return undefined;
    const finding = blocker(code, { until: limit.until, remedies: setting });
    return { finding, refusal: refusalWith(refusal), concernsEveryWay: position === 1 };
  };
  return {
    account: (position: number): Check | undefined => checkOf('account_limit', states[position - 1], position),
    address: (position: number): Check | undefined =>
      checkOf('address_limit', states[positions.length + position - 1], position),
  };
}

async function findNoActiveUser(
  { database }: AccountCheckOptions,
  subject: Subject,
  identity: Identity | undefined,
): Promise<Finding | undefined> {
  const { user, userId } = subject;
  if (user === undefined) {
    const newUser = identity === undefined ? {} : { [identity.type]: identity.canonical };
    return blocker('unknown_identity', { remedies: [remedies.createUser(newUser)] });
  }
  if (!user.isDeactivated) return undefined;
  const since = await lastEventAt(database.user(userId), userId, 'user.deactivated');
  return blocker('deactivated', { since, remedies: [remedies.reactivate(remediedUser(subject))] });
}

async function operatorLockOf({ database }: AccountCheckOptions, subject: Subject): Promise<Check | undefined> {
  const { user, userId } = subject;
  const accountLock = user?.account.lock;
  if (user === undefined || accountLock === undefined) return undefined;
  const since = await lastEventAt(database.user(userId), userId, 'user.locked');
  const { until, reason } = user.lock;
  const data = reason === null ? {} : { reason };
  const finding = blocker('locked_by_operator', {
    since,
    until,
    data,
    remedies: [remedies.unlock(remediedUser(subject))],
  });
  return { finding, refusal: refusalWith(lockProblem(accountLock)), concernsEveryWay: true };
}

function notesOf(secondFactors: SecondFactors, subject: Subject): Finding[] {
  const { user, knownDevice } = subject;
  if (user === undefined) return [];
  const { account, guessLocks, isRoleActive } = user;
  const target = remediedUser(subject);
  const notes: Finding[] = [];
  const others = guessLocks.filter(({ device_id }) => device_id !== (knownDevice ?? null));
  if (others.length > 0) {
    notes.push(
      note('other_devices_locked_by_guesses', {
        since: others[0]?.since ?? null,
        data: { devices: others.map(({ device_id }) => device_id) },
        remedies: [remedies.resetBudget(target)],
      }),
    );
  }
  if (secondFactors.policyOf(account) === 'required' && !secondFactors.hasSecondFactor(account)) {
    notes.push(note('factor_not_enrolled'));
  }
  if (target.hasRole && !isRoleActive) {
    notes.push(note('role_not_active', { remedies: [remedies.createEnrollmentLink(target)] }));
  }
  return notes;
}
