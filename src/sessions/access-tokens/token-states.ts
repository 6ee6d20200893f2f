import type { KeyObject } from 'node:crypto';
import type { SigningAlgorithm } from '../../contract/access-token.js';
import { createBatchLoader } from '../../database/batching/batch-loader.js';
import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** What an audience gets. */
export interface Recipient {
  readonly uri: string;
  readonly alg: SigningAlgorithm;
  readonly ttl: number;
  readonly roles: boolean;
  readonly claims: readonly string[];
  /** Whether support logins get tokens. */
  readonly support: boolean;
}

export interface KeyRow {
  readonly id: string;
  readonly alg: SigningAlgorithm;
  /** Encrypted, in base64. */
  readonly private_key: string;
  /** Seconds since 1970. */
  readonly signs_since: number;
}

/** SQL: a text that changes whenever a key or an audience does. */
export const stateTag = sql`(
  select concat_ws(' ',
    (select string_agg(id::text || coalesce(signs_since::text, ''), ',' order by id) from signing_keys),
    (select string_agg(id::text || updated_at::text, ',' order by id) from audiences)))`;

interface StateRow {
  readonly tag: string;
  readonly audiences: readonly Recipient[];
  readonly keys: readonly KeyRow[];
}

const findTag = statement<object, Pick<StateRow, 'tag'>>('access_token_tag', () => sql`select ${stateTag} as tag`);

/** Keys in the order in which they sign. */
const findState = statement<object, StateRow>(
  'access_token_state',
  () => sql`
  select ${stateTag} as tag, coalesce((select jsonb_agg(to_jsonb(a)) from audiences a), '[]') as audiences,
         coalesce((
           select jsonb_agg(jsonb_build_object(
             'id', id, 'alg', alg, 'private_key', encode(private_key, 'base64'), 'signs_since', extract(epoch from signs_since))
             order by signs_since)
           from signing_keys where signs_since is not null), '[]') as keys`,
);

/** A key, and the first part of the tokens that it signs. */
export interface Signer {
  readonly key: KeyObject;
  readonly head: string;
}

/** The audiences and keys of one tag. */
export interface TokenState extends Pick<StateRow, 'tag' | 'keys'> {
  readonly audiences: ReadonlyMap<string, Recipient>;
  /** The decrypted keys, by id. */
  readonly signers: Map<string, Signer>;
}

/** Reads the audiences and the keys, once for each change. */
export interface TokenStates {
  /** The present tag. */
  readTag(): Promise<string | undefined>;
  /** The state of a tag, or a newer one. */
  stateOf(tag: string): Promise<TokenState>;
}

export function createTokenStates(database: Handle): TokenStates {
  let state: TokenState = { tag: '', audiences: new Map(), keys: [], signers: new Map() };

  const readState = createBatchLoader(async (requested: readonly string[]) => {
    const [row] = await database.query(findState({}));
    if (row === undefined) throw new Error('a query without a condition returned no row');
    const { tag, keys: rows, audiences } = row;
    const read: TokenState = {
      tag,
      keys: rows,
      audiences: new Map(audiences.map((one) => [one.uri, one])),
      signers: new Map(),
    };
    return requested.map(() => read);
  });

  const readTag = createBatchLoader(async (requested: readonly null[]) => {
    const [row] = await database.query(findTag({}));
    return requested.map(() => row?.tag);
  });

  return {
    readTag: () => readTag(null),
    async stateOf(tag) {
      if (state.tag === tag) return state;
      const read = await readState(tag);
      state = read;
      return read;
    },
  };
}
