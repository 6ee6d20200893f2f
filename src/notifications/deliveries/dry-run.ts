import type { Category, StepChannel } from '../../contract/category.js';
import type { Database } from '../../database/database.js';
import { type Sql, type StatementWith, sql, statement, unprepared } from '../../database/sql.js';
import type { KnownCategories } from '../categories/categories.js';
import { type CellChoice, type Decision, decide } from './decide.js';
import { categoryFacts, plainAddress, type ReadAddresses, type UserColumns, userColumns } from './facts.js';
import { quietUntil } from './quiet-hours.js';

/** A notification that would be published. */
export interface StepSubject {
  readonly userId: string;
  readonly category: Category;
  readonly isExpired: boolean;
  /** Whether a device of the user can get pushes, and whether a mute forbids it. */
  readonly push: { readonly hasDevice: boolean; readonly isMuted: boolean };
}

/** Predicts what happens to the steps of a notification. */
export interface SubjectDecisions {
  /** Whether the user has hidden it from the inbox, so that it would count as read and archived. */
  readonly isHidden: boolean;
  /** The decision about each step of the category, in the same order. */
  readonly steps: readonly (Decision | { readonly state: 'failed'; readonly reason: 'no_provider' })[];
}

/**
 * Decides about each step of notifications as if it were due now and nobody had read them. No earlier step was sent.
 * @returns the decisions in the order of the subjects
 */
export type DecideSteps = (subjects: readonly StepSubject[]) => Promise<SubjectDecisions[]>;

interface PersonRow extends UserColumns {
  place: number;
  email: string | null;
  phone: string | null;
  /** The addresses that are proven. */
  proven: string[];
  quiet_until: string | null;
  chosen: Readonly<Record<string, CellChoice | null>> | null;
}

/** The state of each user, and what the user has chosen for the category. */
const selectPeople = (
  lockHolds: Sql,
): StatementWith<{ users: readonly string[]; categories: readonly string[]; zone: string }, PersonRow> =>
  unprepared(
    statement<{ users: readonly string[]; categories: readonly string[]; zone: string }, PersonRow>(
      'dry_run_people',
      (p) => sql`
    select item.place::int as place, ${userColumns(lockHolds)}, u.email, u.phone, ${quietUntil(p.zone)} as quiet_until,
           array_remove(array[case when u.email_verified then u.email end, case when u.phone_verified then u.phone end], null) as proven,
           jsonb_build_object(
             'any.push', preferences.channels -> 'push' -> 'value', 'any.email', preferences.channels -> 'email' -> 'value',
             'any.sms', preferences.channels -> 'sms' -> 'value',
             'push', preferences.categories -> item.category -> 'push' -> 'value',
             'email', preferences.categories -> item.category -> 'email' -> 'value',
             'sms', preferences.categories -> item.category -> 'sms' -> 'value',
             'inbox', preferences.categories -> item.category -> 'inbox' -> 'value') as chosen
    from unnest(${p.users}::uuid[], ${p.categories}::text[]) with ordinality as item (user_id, category, place)
      left join users u on u.id = item.user_id
      left join preferences on preferences.user_id = item.user_id
    order by item.place`,
    ),
  );

export interface DryRunOptions {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get'>;
  /** The channels that have a provider. */
  readonly channels: readonly StepChannel[];
  readonly readAddresses: ReadAddresses;
  /** Whether pushes go to a user with these proven addresses (OUTBOUND). */
  readonly isAllowedOut: (proven: readonly string[]) => boolean;
  /** SQL: whether an operator's lock on the user `u` is in effect. */
  readonly lockHolds: Sql;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
}

/** Creates the decisions of a dry run. It writes nothing. */
export function createStepDryRun(options: DryRunOptions): DecideSteps {
  const { database, readAddresses } = options;
  const select = selectPeople(options.lockHolds);
  return async (subjects) => {
    if (subjects.length === 0) return [];
    const [users, categories] = [subjects.map(({ userId }) => userId), subjects.map(({ category }) => category.name)];
    const people = await database.query(select({ users, categories, zone: options.timeZone }));
    const known = {
      email: await readAddresses(
        database,
        'email',
        people.flatMap(({ email }) => email ?? []),
      ),
      sms: await readAddresses(
        database,
        'sms',
        people.flatMap(({ phone }) => phone ?? []),
      ),
    };
    return subjects.map((subject, place): SubjectDecisions => {
      const person = people[place];
      if (person === undefined) throw new Error('a user of a dry run has no row');
      const { category } = subject;
      const choice = person.chosen?.inbox ?? category.defaults.inbox;
      const isHidden = !category.is_critical && choice === 'off';
      const addressFacts = (channel: StepChannel) => {
        if (channel === 'push') return { isSuppressed: false, isAllowedOut: options.isAllowedOut(person.proven) };
        return known[channel].get(person[channel === 'email' ? 'email' : 'phone'] ?? '') ?? plainAddress;
      };
      const steps = category.steps.map(({ channel, if: condition }) => {
        const decision = decide({
          channel,
          condition,
          wasHandedOver: false,
          isLate: false,
          wasDelivered: false,
          notification: { isExpired: subject.isExpired, isRead: false, isHidden },
          user: { isActive: person.is_active, isLocked: person.is_locked },
          address: channel === 'push' ? (subject.push.hasDevice ? 'proven' : 'none') : person[`${channel}_state`],
          ...addressFacts(channel),
          category: categoryFacts(category, channel),
          chosen: {
            channel: person.chosen?.[`any.${channel}`] === 'off' ? 'off' : undefined,
            category: person.chosen?.[channel] ?? undefined,
          },
          isMuted: subject.push.isMuted,
          quietUntil: person.quiet_until,
        });
        if (!['send', 'held', 'digesting'].includes(decision.state) || options.channels.includes(channel))
          return decision;
        return { state: 'failed', reason: 'no_provider' } as const;
      });
      return { isHidden, steps };
    });
  };
}
