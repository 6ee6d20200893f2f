import { type ProviderProblemCode, providerProblems } from '../../contract/login-provider/problems.js';
import { timeText } from '../../database/clock.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/**
 * What last happened in logins at each provider, for operators. The table of the providers of messages keeps it: one row for each
 * provider and kind of problem, so it stays small however often something happens.
 */
export interface ProviderHealth {
  /**
   * Notes that a login has failed. It does not wait for the database.
   * @param detail what operators may see of the cause. Never a secret
   */
  fail(authenticator: string, problem: ProviderProblemCode, detail?: string): void;
  /** Notes that the provider has named an account. */
  succeed(authenticator: string): void;
  /** What all processes have noted. */
  read(): Promise<ReadonlyMap<string, ProviderHistory>>;
}

/** What happened in logins at a provider. */
export interface ProviderHistory {
  /** RFC 3339; null: it never worked. */
  readonly workedAt: string | null;
  /** The last problem of each kind, the newest first. */
  readonly problems: readonly PastProblem[];
}

export interface PastProblem {
  readonly code: ProviderProblemCode;
  readonly detail: string | null;
  /** RFC 3339. */
  readonly at: string;
}

/** Whether logins with a provider fail now: a fault is the last that happened. */
export function currentFault({ workedAt, problems }: ProviderHistory): PastProblem | undefined {
  return problems.find(({ code, at }) => providerProblems[code].isFault && (workedAt === null || at > workedAt));
}

const success = 'worked';
const maxDetailLength = 300;

const write = statement<{ names: readonly string[]; details: readonly string[] }>(
  'login_provider_events',
  // Always in the same order, so that two processes never wait for each other.
  (p) => sql`
  insert into message_providers (name, failing_since, last_error, updated_at)
  select name, null, detail, db_now() from unnest(${p.names}::text[], ${p.details}::text[]) as noted (name, detail)
  order by name
  on conflict (name) do update set last_error = excluded.last_error, updated_at = excluded.updated_at`,
);

const readAll = statement<Record<never, never>, { name: string; detail: string; at: string }>(
  'login_provider_history',
  () => sql`
  select name, last_error as detail, ${timeText(sql`updated_at`)} as at
  from message_providers where name like 'oidc:%' or name like 'oauth:%' order by updated_at desc, name`,
);

/** @param onUnwritten called if the database did not take it */
export function createProviderHealth(database: Database, onUnwritten: (error: unknown) => void): ProviderHealth {
  const waiting = new Map<string, string>();
  let isWriting = false;

  /** One statement at a time: what happens meanwhile is written by the next one, the last of each kind. */
  async function writeWaiting(): Promise<void> {
    isWriting = true;
    while (waiting.size > 0) {
      const noted = [...waiting];
      waiting.clear();
      const values = { names: noted.map(([name]) => name), details: noted.map(([, detail]) => detail) };
      await database.query(write(values)).catch(onUnwritten);
    }
    isWriting = false;
  }

  function note(authenticator: string, event: string, detail: string): void {
    waiting.set(`${authenticator} ${event}`, detail.slice(0, maxDetailLength));
    if (!isWriting) void writeWaiting();
  }

  return {
    fail: (authenticator, problem, detail = '') => note(authenticator, problem, detail),
    succeed: (authenticator) => note(authenticator, success, ''),
    read: () => readHistory(database),
  };
}

async function readHistory(handle: Queryable): Promise<ReadonlyMap<string, ProviderHistory>> {
  const histories = new Map<string, { workedAt: string | null; problems: PastProblem[] }>();
  for (const { name, detail, at } of await handle.query(readAll({}))) {
    const [authenticator = '', event = ''] = name.split(' ');
    const history = histories.get(authenticator) ?? { workedAt: null, problems: [] };
    histories.set(authenticator, history);
    if (event === success) history.workedAt = at;
    else if (isProblem(event)) history.problems.push({ code: event, detail: detail === '' ? null : detail, at });
  }
  return histories;
}

/** Another release may have noted a problem that this one does not know. */
const isProblem = (event: string): event is ProviderProblemCode => Object.hasOwn(providerProblems, event);
