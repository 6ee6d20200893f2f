import type { TokenRequest } from '../../contract/authentication.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** What a request says about a redirect. */
export type RedirectRequest = Pick<TokenRequest, 'redirect_to' | 'code_challenge' | 'login_hint'>;

/**
 * What a login by redirect keeps in the challenge of its authentication, from its start to its end. If a user with a session
 * links an account, the challenge of the link keeps it. Times are milliseconds by the database's clock.
 */
export interface RedirectState {
  /** Where the browser returns to. */
  readonly to: string;
  /** The client's PKCE challenge (S256). Whoever ends the login must know its verifier. */
  readonly codeChallenge: string;
  readonly loginHint?: string | undefined;
  /** Each time that a browser was sent to the provider. */
  readonly visits: readonly Visit[];
  /** The code that the app got. Only one visit gets one. */
  readonly code?: { readonly digest: string; readonly until: number } | undefined;
  /** The provider's account, encrypted. */
  readonly account?: string | undefined;
}

/** A browser that was sent to the provider. */
export interface Visit {
  /** The digest of `state`. */
  readonly state: string;
  /** The digest of the browser's cookie. */
  readonly browser: string;
  /** The nonce and the PKCE verifier for the provider, encrypted. */
  readonly secrets: string;
  /** An answer that the provider has posted, encrypted, and the handle with which the browser fetches its result. */
  readonly posted?: { readonly answer: string; readonly until: number } | undefined;
  /** When the exchange with the provider began. */
  readonly exchangedAt?: number | undefined;
  /** Where the browser was sent at the end, encrypted. A repeated callback gets the same. */
  readonly result?: { readonly url: string; readonly until: number } | undefined;
}

/** The row of a login by redirect, or of a link that a user with a session has begun. */
export interface RedirectLogin {
  readonly kind: 'login' | 'link';
  readonly id: string;
  readonly userId: string;
  readonly authenticator: string;
  /** Whether it waits for the provider or for the app's code. */
  readonly isOpen: boolean;
  /** The time now. */
  readonly now: number;
  readonly state: RedirectState;
}

interface Row extends Omit<RedirectLogin, 'state'> {
  readonly redirect: string | null;
}

const now = sql`(extract(epoch from db_now()) * 1000)::float8 as now`;

const loginColumns = sql`'login' as kind, id, user_id as "userId", authenticator, challenge->>'redirect' as redirect,
  status = 'pending' and factor = 1 and ended_at is null and challenge_ends_at > db_now() as "isOpen", ${now}`;

const linkColumns = sql`'link' as kind, id, user_id as "userId", kept->>'authenticator' as authenticator,
  kept->>'redirect' as redirect, ended_at is null and expires_at > db_now() as "isOpen", ${now}`;

const find = statement<{ id: string }, Row>(
  'redirect_find',
  (p) => sql`
  select ${loginColumns} from authentications where id = ${p.id}
  union all
  select ${linkColumns} from challenges where id = ${p.id} and purpose = 'external_identity'`,
);

interface Key {
  readonly userId: string;
  readonly id: string;
}

const lock = {
  login: statement<Key, Row>(
    'redirect_lock',
    (p) => sql`
    select ${loginColumns} from authentications where user_id = ${p.userId} and id = ${p.id} for no key update`,
  ),
  link: statement<Key, Row>(
    'redirect_link_lock',
    (p) => sql`
    select ${linkColumns} from challenges
    where user_id = ${p.userId} and id = ${p.id} and purpose = 'external_identity' for no key update`,
  ),
};

const store = {
  login: statement<Key & { redirect: string; isAnswered: boolean }>(
    'redirect_store',
    (p) => sql`
    update authentications
    set challenge = challenge || jsonb_build_object('redirect', ${p.redirect}::text),
        guesses = case when ${p.isAnswered} then greatest(guesses, 2) else guesses end
    where user_id = ${p.userId} and id = ${p.id}`,
  ),
  link: statement<Key & { redirect: string; isAnswered: boolean }>(
    'redirect_link_store',
    (p) => sql`
    update challenges
    set kept = kept || jsonb_build_object('redirect', ${p.redirect}::text),
        guesses = case when ${p.isAnswered} then greatest(guesses, 2) else guesses end
    where user_id = ${p.userId} and id = ${p.id}`,
  ),
};

function loginOf(row: Row | undefined): RedirectLogin | undefined {
  if (row === undefined || row.redirect === null) return undefined;
  const { redirect, ...login } = row;
  return { ...login, state: JSON.parse(redirect) };
}

/** Finds a login or a link by redirect by its id alone. Undefined if there is none. */
export async function findRedirectLogin(handle: Queryable, id: string): Promise<RedirectLogin | undefined> {
  return loginOf((await handle.query(find({ id })))[0]);
}

/** Reads a login or a link by redirect, and locks its row until the transaction ends. */
export async function lockRedirectLogin(
  tx: Queryable,
  { kind, userId, id }: Pick<RedirectLogin, 'kind' | 'userId' | 'id'>,
): Promise<RedirectLogin | undefined> {
  return loginOf((await tx.query(lock[kind]({ userId, id })))[0]);
}

/**
 * Stores the state of a login or a link whose row the transaction has locked. Once it has a code, three of its five guesses
 * are left.
 */
export async function storeRedirectState(
  tx: Queryable,
  { kind, userId, id }: Pick<RedirectLogin, 'kind' | 'userId' | 'id'>,
  state: RedirectState,
): Promise<void> {
  await tx.query(store[kind]({ userId, id, redirect: JSON.stringify(state), isAnswered: state.code !== undefined }));
}
