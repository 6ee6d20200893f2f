import { recordServiceEvent } from '../../audit/events.js';
import {
  type Audience,
  type AudienceChange,
  type NewAudience,
  type SavedAudience,
  type SigningKey,
  tokenLifetimes,
} from '../../contract/access-token.js';
import type { Handle, Queryable } from '../../database/database.js';
import { type ListRequest, type Page, readPage } from '../../database/listing.js';
import { literal, sql, statement } from '../../database/sql.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { Problem, throwIfErrors } from '../../lib/problem.js';
import { usersTooLargeFor } from './payload.js';
import { ensureSigningKeys, listSigningKeys } from './signing-keys.js';

/** The services that access tokens are for, as operators see and change them. A change takes effect for the next token. */
export interface Audiences {
  /** @throws Problem `validation_failed` without PUBLIC_URL or with too many; `audience_exists` */
  create(tx: Queryable, input: NewAudience, origin: Origin): Promise<SavedAudience>;
  list(request: ListRequest): Promise<Page<Audience>>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<Audience>;
  /** @throws Problem `not_found`, `audience_exists` */
  change(tx: Queryable, id: string, change: AudienceChange, origin: Origin): Promise<SavedAudience>;
  /** @throws Problem `not_found` */
  remove(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /** The keys that sign the tokens, will sign or have signed ones that may still be valid. */
  signingKeys(): Promise<SigningKey[]>;
}

export const audienceFilterFields: FilterFields = {
  id: { kind: 'id' },
  uri: { kind: 'string', like: true },
  alg: { kind: 'enum', values: ['ES256', 'RS256'] },
};

/** The most audiences. Each process keeps all of them in memory. */
const maxAudiences = 100;

const columns = sql`id, uri, alg, ttl, roles, claims, support, created_at, updated_at`;

const findOne = statement<{ id: string }, Audience>(
  'audience_get',
  (p) => sql`select ${columns} from audiences where id = ${p.id}`,
);
const lockOne = statement<{ id: string }, Audience>(
  'audience_lock',
  (p) => sql`select ${columns} from audiences where id = ${p.id} for no key update`,
);

interface Values {
  readonly id: string;
  readonly uri: string;
  readonly alg: string;
  readonly ttl: number;
  readonly roles: boolean;
  readonly claims: string;
  readonly support: boolean;
}

const insertOne = statement<Values, Audience>(
  'audience_insert',
  (p) => sql`
  insert into audiences (id, uri, alg, ttl, roles, claims, support, created_at, updated_at)
  select ${p.id}, ${p.uri}, ${p.alg}, ${p.ttl}, ${p.roles}, ${p.claims}::jsonb, ${p.support}, now, now
  from (select db_now() as now) clock where (select count(*) from audiences) < ${literal(maxAudiences)}
  on conflict (uri) do nothing returning ${columns}`,
);

const countAll = statement<object, { count: number }>(
  'audiences_count',
  () => sql`select count(*)::int as count from audiences`,
);

/** The lock of `ensureSigningKeys` keeps others from taking the same `uri` meanwhile. */
const updateOne = statement<Values, Audience>(
  'audience_update',
  (p) => sql`
  update audiences set uri = ${p.uri}, alg = ${p.alg}, ttl = ${p.ttl}, roles = ${p.roles}, claims = ${p.claims}::jsonb,
    support = ${p.support}, updated_at = db_now()
  where id = ${p.id} and not exists (select from audiences o where o.uri = ${p.uri} and o.id <> ${p.id}) returning ${columns}`,
);

const deleteOne = statement<{ id: string }, Audience>(
  'audience_delete',
  (p) => sql`delete from audiences where id = ${p.id} returning ${columns}`,
);

/**
 * @param issuer PUBLIC_URL: what tokens have in `iss`
 * @param clientIds REDIRECT_URIS: what tokens can have in `client_id`
 */
export function createAudiences(options: {
  readonly database: Handle;
  readonly keys: SecretKeys;
  readonly issuer: string | undefined;
  readonly clientIds: readonly string[];
}): Audiences {
  const { database, keys, issuer, clientIds } = options;
  const present = (audience: Audience | undefined): Audience => {
    if (audience === undefined) throw new Problem('not_found');
    return audience;
  };
  const saved = async (tx: Queryable, audience: Audience): Promise<SavedAudience> => ({
    ...audience,
    too_large_for: issuer === undefined ? [] : await usersTooLargeFor(tx, audience, { issuer, clientIds }),
  });
  return {
    async create(tx, input, origin) {
      if (issuer === undefined) throwIfErrors([{ code: 'public_url_required' }]);
      const { uri, alg = 'ES256', ttl = tokenLifetimes.default, roles = false, claims = [], support = false } = input;
      await ensureSigningKeys(tx, keys, alg);
      const values = { id: newId(), uri, alg, ttl, roles, claims: JSON.stringify(claims), support };
      const [audience] = await tx.query(insertOne(values));
      if (audience === undefined) {
        const [all] = await tx.query(countAll({}));
        if ((all?.count ?? 0) < maxAudiences) throw new Problem('audience_exists');
        throw new Problem('validation_failed', { errors: [{ code: 'too_many_items', params: { max: maxAudiences } }] });
      }
      await recordServiceEvent(tx, { type: 'audience.created', origin, data: dataOf(audience) });
      return saved(tx, audience);
    },
    list: (request) => readPage<Audience>(database, { columns, from: sql`audiences` }, request),
    get: async (id) => present((await database.query(findOne({ id })))[0]),
    async change(tx, id, change, origin) {
      const before = present((await tx.query(lockOne({ id })))[0]);
      const { uri, alg, ttl, roles, claims, support } = { ...before, ...change };
      await ensureSigningKeys(tx, keys, alg);
      const values = { id, uri, alg, ttl, roles, claims: JSON.stringify(claims), support };
      const [after] = await tx.query(updateOne(values));
      if (after === undefined) throw new Problem('audience_exists');
      await recordServiceEvent(tx, { type: 'audience.changed', origin, data: dataOf(after) });
      return saved(tx, after);
    },
    async remove(tx, id, origin) {
      const audience = present((await tx.query(deleteOne({ id })))[0]);
      await recordServiceEvent(tx, { type: 'audience.deleted', origin, data: dataOf(audience) });
    },
    signingKeys: () => listSigningKeys(database),
  };
}

const dataOf = ({ id, uri, alg, ttl, roles, claims, support }: Audience) => ({
  audience_id: id,
  audience: uri,
  alg,
  ttl,
  roles,
  claims,
  support,
});
