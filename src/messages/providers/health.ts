import { timeText } from '../../database/clock.js';
import type { Handle, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** A provider that fails for at least one process. */
export interface FailingProvider {
  readonly name: string;
  /** RFC 3339. */
  readonly failing_since: string;
  readonly last_error: string;
}

const storeFailure = statement<{ name: string; error: string }>(
  'message_provider_fails',
  (p) => sql`
  insert into message_providers as known (name, failing_since, last_error, updated_at)
  values (${p.name}, db_now(), ${p.error}, db_now())
  on conflict (name) do update set failing_since = coalesce(known.failing_since, excluded.failing_since),
    last_error = excluded.last_error, updated_at = excluded.updated_at`,
);

const storeSuccess = statement<{ name: string }>(
  'message_provider_works',
  (p) => sql`
  update message_providers set failing_since = null, updated_at = db_now()
  where name = ${p.name} and failing_since is not null`,
);

const selectFailing = statement<Record<never, never>, FailingProvider>(
  'message_providers_failing',
  () => sql`
  select name, ${timeText(sql`failing_since`)} as failing_since, last_error
  from message_providers where failing_since is not null order by name`,
);

/** Stores whether a provider works. @param error why it fails; undefined when it works */
export async function storeProviderHealth(database: Handle, name: string, error: string | undefined): Promise<void> {
  await database.query(error === undefined ? storeSuccess({ name }) : storeFailure({ name, error }));
}

/** The providers that fail for at least one process. */
export function failingProviders(handle: Queryable): Promise<FailingProvider[]> {
  return handle.query(selectFailing({}));
}
