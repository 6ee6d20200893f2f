import type { Config } from '../../config/config.js';
import { refuseUnfitDatabase, UnfitDatabaseError } from '../../database/connections/suitability.js';
import type { Queryable, Shard } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
import {
  checkClock,
  checkIndexes,
  checkSchema,
  checkSecrets,
  checkVersion,
  type Finding,
  fail,
  ok,
  warn,
} from './checks.js';

export interface ShardCheckOptions {
  /** The maximum number of encrypted values that are decrypted. Undefined: all. */
  readonly maxRows?: number;
  /** Whether the pooler is checked as at a start, with connections of its own. Its errors may contain addresses. */
  readonly checksPoolers?: boolean;
}

/** Checks the servers of SHARDS. Each finding names its server. Without SHARDS there are none. */
export async function shardFindings(
  shards: readonly Shard[],
  config: Config,
  options: ShardCheckOptions = {},
): Promise<Finding[]> {
  const [main, ...others] = shards;
  if (main === undefined || others.length === 0) return [];
  const installation = (await readIdentity(main))?.installation ?? undefined;
  const findings = await Promise.all(others.map((shard) => findingsOf(shard, installation, config, options)));
  return [await checkPreparedTransactions(main), ...findings.flat()];
}

async function findingsOf(
  shard: Shard,
  installation: string | undefined,
  config: Config,
  { maxRows, checksPoolers = false }: ShardCheckOptions,
): Promise<Finding[]> {
  const { name, everyone, target } = shard;
  try {
    if (checksPoolers) await refuseUnfitDatabase(target);
    const findings = [
      await checkVersion(everyone),
      await checkSchema(everyone),
      ...(await checkIndexes(everyone)),
      await checkClock(everyone),
      ...(await checkSecrets(everyone, config, maxRows)),
    ].map((finding) => ({ ...finding, what: `${finding.what} of ${name}` }));
    return [...(await checkIdentity(shard, installation)), ...findings, await checkPreparedTransactions(shard)];
  } catch (error) {
    const what = `database of ${name}`;
    if (error instanceof UnfitDatabaseError) return [fail(what, error.message)];
    const reason = checksPoolers ? ` (${messageOf(error)})` : '';
    return [fail(what, `it does not answer${reason}: its users cannot use the service`)];
  }
}

/** A failure to connect to several addresses has no message of its own. */
function messageOf(error: unknown): string {
  const [reason = error]: unknown[] = error instanceof AggregateError ? error.errors : [];
  return reason instanceof Error ? reason.message : String(reason);
}

interface Identity {
  readonly installation: string | null;
  readonly name: string | null;
}

/** Undefined before the migrations. */
async function readIdentity({ everyone }: { readonly everyone: Queryable<'everyone'> }): Promise<Identity | undefined> {
  const [table] = await everyone.query(
    compose<{ exists: boolean }, 'everyone'>('everyone', sql`select to_regclass('shard_map') is not null as exists`),
  );
  if (table?.exists !== true) return undefined;
  const [identity] = await everyone.query(
    compose<Identity, 'everyone'>('everyone', sql`select installation, name from shard_map`),
  );
  return identity;
}

/** Checks that the database is that of the server. */
async function checkIdentity(shard: Shard, installation: string | undefined): Promise<Finding[]> {
  const known = await readIdentity(shard);
  const what = `database of ${shard.name}`;
  if (known?.installation == null) return [warn(what, 'the server is new: the next start adds it')];
  if (known.name !== shard.name) return [fail(what, `it is the server ${known.name}: check the addresses in SHARDS`)];
  if (known.installation === installation) return [];
  return [fail(what, 'it belongs to another installation of Postern: check the addresses in SHARDS')];
}

/** As docs/scaling.md recommends. */
const minPreparedTransactions = 100;

async function checkPreparedTransactions({ name, everyone }: Shard): Promise<Finding> {
  const [row] = await everyone.query(
    compose<{ max: number }, 'everyone'>(
      'everyone',
      sql`select current_setting('max_prepared_transactions')::int as max`,
    ),
  );
  const max = row?.max ?? 0;
  const [what, detail] = [`prepared transactions of ${name}`, `max_prepared_transactions is ${max}`];
  if (max >= minPreparedTransactions) return ok(what, detail);
  const advice = `set it to at least ${minPreparedTransactions}, and restart that PostgreSQL`;
  return max === 0 ? fail(what, `${detail}, and a start needs them: ${advice}`) : warn(what, `${detail}: ${advice}`);
}
