import { changeOf, changesBetween, memberChanges, secretChange } from '../audit/changes.js';
import { type EventType, recordEvent } from '../audit/events.js';
import type { EventChange } from '../contract/administration.js';
import { type UserFieldsWith, userFieldsWith } from '../contract/user-fields.js';
import { endChallenges } from '../credentials/challenges.js';
import { endPendingPin } from '../credentials/pins/pending-pin.js';
import type { Queryable } from '../database/database.js';
import type { Origin } from '../lib/origin.js';
import { forgiveGuesses } from '../limits/guess-budget.js';
import type { NewUserValues, UserRow, UserValues } from './queries.js';

const system: Origin = { actor: 'system' };

/**
 * Ends what a change of a user invalidates: open challenges whose proofs would no longer be accepted, and a pending PIN. The
 * caller has locked the user's row, and writes it afterwards.
 * @returns whether the change ends every login
 */
export async function invalidateByChange(
  tx: Queryable,
  before: UserRow,
  values: UserValues,
  origin: Origin,
): Promise<boolean> {
  const { id: userId } = before;
  const has = (name: keyof UserValues) => values[name] !== undefined;
  const isNew = (name: 'email' | 'phone' | 'status' | 'role' | 'second_factor') => {
    return has(name) && values[name] !== before[name];
  };
  const isDeactivated = isNew('status') && values.status === 'deactivated';
  let endsLogins = has('password_hash') || isDeactivated;

  // After any of these changes a pending PIN is not wanted, or its code went to an address that is no longer the user's.
  if (has('password_hash') || has('pin_hash') || isDeactivated || isNew('email') || isNew('phone')) {
    const endedPin = await endPendingPin(tx, userId);
    if (endedPin === 'applied') {
      endsLogins = true;
      await finishPinRecovery(tx, userId);
    } else if (endedPin !== undefined) {
      const data = { reason: 'account_changed' };
      await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data });
    }
  }
  // A role of an operator or of the app, and the user's own policy, can require a second factor.
  const hasNewRoles = has('roles') && values.roles !== JSON.stringify(before.roles);
  if (endsLogins || isNew('role') || hasNewRoles || isNew('second_factor')) await endChallenges(tx, userId);
  else if (has('pin_hash')) await endChallenges(tx, userId, ['recovery']);
  return endsLogins;
}

/** Completes a PIN recovery after its PIN took effect: clears the guesses at the old PIN and records the events. */
export async function finishPinRecovery(tx: Queryable, userId: string): Promise<void> {
  await forgiveGuesses(tx, userId, 'pin');
  await recordEvent(tx, { userId, type: 'user.pin_changed', origin: system, changes: [secretChange('pin')] });
  await recordEvent(tx, { userId, type: 'recovery.completed', origin: system, data: { recovers: 'pin' } });
}

interface ChangeEvent {
  readonly type: EventType;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly changes: readonly EventChange[];
}

/** The fields whose values audit events show. */
const shownFields = Object.keys(userFieldsWith('isInEvents')) as UserFieldsWith<'isInEvents'>[];

/** The objects that events show member by member, such as `metadata.plan`. */
const objects = ['metadata', 'claims'] as const;

/**
 * The events of a change. They say that a secret has changed, but not from what to what. A value that the user already
 * has causes no event, because some systems always send all fields.
 */
export function changeEvents(before: UserRow, values: UserValues): ChangeEvent[] {
  const { password_hash, must_change, pin_hash, status, ...others } = values;
  const statusEvent = status === 'deactivated' ? 'user.deactivated' : 'user.reactivated';
  const events: ChangeEvent[] = [];
  const shown = changesBetween(shownFields, before, rolesAsList(withoutImplied(before, others)));
  const fields = shown.map(({ field }) => field);
  const changes = [...shown];
  for (const object of objects) {
    const value = others[object];
    const members = value === undefined ? [] : memberChanges(object, before[object], membersOf(value));
    if (members.length > 0) fields.push(object);
    changes.push(...members);
  }
  if (fields.length > 0) events.push({ type: 'user.changed', data: { fields }, changes });
  if (password_hash !== undefined) events.push({ type: 'user.password_changed', changes: [secretChange('password')] });
  if (pin_hash !== undefined) events.push({ type: 'user.pin_changed', changes: [secretChange('pin')] });
  if (status !== undefined && status !== before.status) {
    events.push({ type: statusEvent, changes: changeOf('status', before.status, status) });
  }
  return events;
}

/** Leaves out that a new address is proven, because the events of new addresses mean that. */
function withoutImplied(before: UserRow, values: UserValues): UserValues {
  const shown = { ...values };
  for (const type of ['email', 'phone'] as const) {
    if (values[type] !== undefined && values[type] !== before[type] && values[`${type}_verified`] === true) {
      delete shown[`${type}_verified`];
    }
  }
  return shown;
}

/** The values of a new user. */
export function creationChanges(values: NewUserValues): EventChange[] {
  return [
    ...changesBetween(
      shownFields,
      { name: '', email_verified: true, phone_verified: true, roles: [] },
      rolesAsList(values),
    ),
    ...(values.password_hash === null ? [] : [secretChange('password')]),
    ...(values.pin_hash === null ? [] : [secretChange('pin')]),
    ...objects.flatMap((object) => memberChanges(object, {}, membersOf(values[object]))),
  ];
}

/** @param object JSON text */
const membersOf = (object: string) => JSON.parse(object) as Readonly<Record<string, unknown>>;

/** The values with the roles as events show them. */
function rolesAsList({ roles, ...others }: UserValues): Readonly<Record<string, unknown>> {
  return { ...others, ...(roles !== undefined && { roles: JSON.parse(roles) as unknown }) };
}
