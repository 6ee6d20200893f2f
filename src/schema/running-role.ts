import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { openClient } from '../database/connections/open-client.js';
import type { DatabaseTarget } from '../database/connections/target.js';
import type { Queryable } from '../database/database.js';
import { compose, sql } from '../database/sql.js';

/**
 * The role with which the service runs, beside the role that owns the schema and migrates it (OWASP ASVS 13.2.2). It reads
 * and writes rows. It cannot create, alter, drop or truncate anything, and not change which migrations count as applied.
 */
export interface RunningRole {
  readonly name: string;
  /** The password of a new role. Undefined if the role existed: its password stays. */
  readonly password: string | undefined;
}

/** The table that only migrations write. */
const migrationsTable = 'schema_migrations';
const queueSchema = 'graphile_worker';

/**
 * Creates the role, or takes an existing one, and gives it its rights on a migrated database. Call it again after a release whose doctor
 * reports a missing right. Revokes the rights that PostgreSQL gives to every role: to create temporary tables in this database and, before
 * PostgreSQL 15, tables in its schema.
 * @param owner connects as the role that owns the tables
 * @throws pg.DatabaseError if the owner may not create roles, and the role does not exist
 */
export async function createRunningRole(owner: DatabaseTarget, name: string): Promise<RunningRole> {
  const client = await openClient(owner, { application_name: 'postern roles', connectionTimeoutMillis: 10_000 });
  try {
    await client.query('begin');
    const { rows } = await client.query('select from pg_roles where rolname = $1', [name]);
    const password = rows.length > 0 ? undefined : randomBytes(24).toString('base64url');
    const role = pg.escapeIdentifier(name);
    if (password !== undefined) {
      // The server's log can contain the statement, so it has only the verifier.
      await client.query(`create role ${role} login password ${pg.escapeLiteral(scramVerifier(password))}`);
    }
    await client.query(await grantsFor(client, role));
    await client.query('commit');
    return { name, password };
  } finally {
    await client.end();
  }
}

/** @param role quoted */
async function grantsFor(client: pg.Client, role: string): Promise<string> {
  const { rows } = await client.query<{ database: string; schema: string; protected: string[] }>(
    `select quote_ident(current_database()) as database, quote_ident(current_schema()) as schema,
            array(select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where n.nspname = $1 and c.relrowsecurity) as protected`,
    [queueSchema],
  );
  const [names] = rows;
  if (names === undefined) return '';
  const schemas = [names.schema, queueSchema];
  const rowRights = 'select, insert, update, delete';
  return [
    `revoke create on schema ${names.schema} from public`,
    `revoke temporary on database ${names.database} from public`,
    `grant connect on database ${names.database} to ${role}`,
    ...schemas.flatMap((schema) => [
      `grant usage on schema ${schema} to ${role}`,
      `grant ${rowRights} on all tables in schema ${schema} to ${role}`,
      `grant select, usage on all sequences in schema ${schema} to ${role}`,
      `alter default privileges in schema ${schema} grant ${rowRights} on tables to ${role}`,
      `alter default privileges in schema ${schema} grant select, usage on sequences to ${role}`,
    ]),
    `revoke insert, update, delete on ${names.schema}.${migrationsTable}, ${queueSchema}.migrations from ${role}`,
    // The queue has row security without policies: only its owner sees rows. The policy names no role, because a restore
    // on a server without this role would fail. The rights decide who may read.
    ...names.protected.flatMap((table) => [
      `drop policy if exists running_role on ${table}`,
      `create policy running_role on ${table} using (true) with check (true)`,
    ]),
  ].join(';\n');
}

/** RFC 5803, and the column `rolpassword` of PostgreSQL: the role can log in with the password, and nobody can read it. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/** The role of a connection, and what it may do. */
export interface RoleState {
  readonly name: string;
  /** Whether it can create tables in the schema, or owns tables: then it can also change and drop them. */
  readonly canChangeSchema: boolean;
  /** The tables and sequences whose rows it cannot all use. */
  readonly missing: readonly string[];
}

/** Reads the state. Changes nothing. */
export async function readRoleState(handle: Queryable): Promise<RoleState> {
  const [state] = await handle.query(
    compose<{ name: string; owns: boolean; missing: string[] }>(sql`
      with relations as (
        select c.oid, c.relname, c.relkind, c.relrowsecurity, c.relowner
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in (current_schema(), 'graphile_worker') and c.relkind in ('r', 'p', 'S')
      )
      select current_user::text as name,
        has_schema_privilege(current_schema(), 'create')
          or exists (select from relations where pg_has_role(relowner, 'usage')) as owns,
        array(
          select oid::regclass::text from relations
          where case
            when relkind = 'S' then not has_sequence_privilege(oid, 'usage')
            when relname in ('schema_migrations', 'migrations') then not has_table_privilege(oid, 'select')
            else not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
                      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
              or relrowsecurity and not pg_has_role(relowner, 'usage') and not exists (
                select from pg_policy p where p.polrelid = relations.oid
                  and exists (select from unnest(p.polroles) as policy (role)
                              where policy.role = 0 or pg_has_role(policy.role, 'usage')))
          end
          order by 1) as missing`),
  );
  return {
    name: state?.name ?? '',
    canChangeSchema: state?.owns === true,
    missing: state?.missing ?? [],
  };
}
