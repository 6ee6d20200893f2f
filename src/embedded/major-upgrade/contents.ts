import type pg from 'pg';

/** SQL: whether a schema is neither one of PostgreSQL's own nor a temporary one. */
const isOwnSchema = `n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'`;

/** SQL: whether the object with this id belongs to no extension. */
const isOwn = (catalog: string, id: string) =>
  `not exists (select from pg_depend e where e.classid = '${catalog}'::regclass and e.objid = ${id} and e.deptype = 'e')`;

/**
 * Every object of a database with its definition, except indexes: PostgreSQL writes these definitions. Roles and databases
 * belong to the whole server.
 */
const selectObjects = `
  select 'extension ' || extname as name, '' as definition from pg_extension
  union all
  select 'role ' || rolname, '' from pg_roles where rolname !~ '^pg_'
  union all
  select 'database ' || datname, '' from pg_database where not datistemplate
  union all
  select 'relation ' || c.oid::regclass, concat_ws(' ', c.relkind, c.relpersistence, pg_get_viewdef(c.oid))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${isOwnSchema} and c.relkind not in ('i', 'I', 't') and ${isOwn('pg_class', 'c.oid')}
  union all
  select format('column %s.%I', c.oid::regclass, a.attname),
         concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where ${isOwnSchema} and c.relkind in ('r', 'p', 'c') and a.attnum > 0 and not a.attisdropped and ${isOwn('pg_class', 'c.oid')}
  union all
  select format('constraint %I of %s', o.conname, coalesce(o.conrelid::regclass::text, o.contypid::regtype::text)),
         pg_get_constraintdef(o.oid)
  from pg_constraint o join pg_namespace n on n.oid = o.connamespace
  where ${isOwnSchema} and o.contype in ('c', 'f', 'p', 'u', 'x')
  union all
  select format('trigger %I of %s', t.tgname, t.tgrelid::regclass), concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
  from pg_trigger t where not t.tgisinternal
  union all
  select 'function ' || p.oid::regprocedure, pg_get_functiondef(p.oid)
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where ${isOwnSchema} and p.prokind <> 'a' and ${isOwn('pg_proc', 'p.oid')}
  union all
  select 'type ' || t.oid::regtype, (select string_agg(l.enumlabel, ' ' order by l.enumsortorder) from pg_enum l where l.enumtypid = t.oid)
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where ${isOwnSchema} and t.typtype in ('e', 'd') and ${isOwn('pg_type', 't.oid')}
  union all
  select format('policy %I of %s', polname, polrelid::regclass),
         concat_ws(' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
  from pg_policy
  union all
  select format('rule %I of %s', w.rulename, w.ev_class::regclass), pg_get_ruledef(w.oid)
  from pg_rewrite w join pg_class c on c.oid = w.ev_class join pg_namespace n on n.oid = c.relnamespace
  where ${isOwnSchema} and w.rulename <> '_RETURN'
  union all
  select 'statistics ' || stxname, pg_get_statisticsobjdef(oid) from pg_statistic_ext
  union all
  select 'aggregate ' || p.oid::regprocedure, ''
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where ${isOwnSchema} and p.prokind = 'a' and ${isOwn('pg_proc', 'p.oid')}
  union all
  select 'event trigger ' || evtname, '' from pg_event_trigger
  union all
  select 'publication ' || pubname, '' from pg_publication
  union all
  select 'large object ' || oid, '' from pg_largeobject_metadata
  union all
  select 'prepared transaction ' || gid, '' from pg_prepared_xacts`;

/** The indexes that belong to no constraint. */
const selectIndexes = `
  select 'index ' || i.indexrelid::regclass as name, pg_get_indexdef(i.indexrelid) as definition
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  where ${isOwnSchema} and i.indisvalid and not exists (select from pg_constraint o where o.conindid = i.indexrelid)`;

/**
 * The tables whose rows survive a crash. The rows of unlogged tables are not copied, because they contain transaction
 * numbers of the former server.
 */
const selectTables = `
  select c.oid::regclass::text as name,
         string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = '') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where ${isOwnSchema} and c.relkind = 'r' and c.relpersistence = 'p' and a.attnum > 0 and not a.attisdropped
    and ${isOwn('pg_class', 'c.oid')}
  group by c.oid order by 1`;

/** A table whose rows are moved. */
export interface Table {
  /** With its schema, quoted. */
  readonly name: string;
  /** All columns that are stored, quoted and separated by commas. */
  readonly columns: string;
}

interface Definition {
  readonly name: string;
  readonly definition: string | null;
}

export async function listTables(client: pg.Client): Promise<Table[]> {
  return (await client.query<Table>(selectTables)).rows;
}

/** The definitions of the indexes in one database that another one does not have. */
export async function missingIndexes(from: pg.Client, to: pg.Client): Promise<string[]> {
  return (await missing(from, to, selectIndexes)).flatMap(({ definition }) => definition ?? []);
}

/** The names of the objects in one database that another one does not have, or that differ there. */
export async function missingObjects(from: pg.Client, to: pg.Client): Promise<string[]> {
  return (await missing(from, to, selectObjects)).map(({ name }) => name);
}

async function missing(from: pg.Client, to: pg.Client, text: string): Promise<Definition[]> {
  const [own, other] = [await from.query<Definition>(text), await to.query<Definition>(text)];
  const known = new Map(other.rows.map(({ name, definition }) => [name, definition]));
  return own.rows.filter(({ name, definition }) => known.get(name) !== definition);
}

/** The number of rows, and a checksum of the rows that does not depend on their order. */
export async function checksumOf(client: pg.Client, { name, columns }: Table): Promise<string> {
  const { rows } = await client.query<{ sum: string }>(
    `select concat_ws(' ', count(*), sum(('x' || left(md5(r::text), 16))::bit(64)::bigint::numeric)) as sum
     from (select ${columns} from ${name}) r`,
  );
  return rows[0]?.sum ?? '';
}

/** A sequence and its position. */
export interface Sequence {
  readonly name: string;
  readonly position: string;
  readonly isCalled: boolean;
}

export async function listSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${isOwnSchema} and c.relkind = 'S' order by 1`,
  );
  const sequences: Sequence[] = [];
  for (const { name } of rows) {
    const found = await client.query<Omit<Sequence, 'name'>>(
      `select last_value::text as position, is_called as "isCalled" from ${name}`,
    );
    sequences.push(...found.rows.map((sequence) => ({ name, ...sequence })));
  }
  return sequences;
}
