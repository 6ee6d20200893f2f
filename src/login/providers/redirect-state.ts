import type { TokenRequest } from '../../contract/authentication.js';
import type { ProviderProblemCode, ProviderStep } from '../../contract/login-provider/problems.js';
import { timeText } from '../../database/clock.js';
import type { Database, Queryable } from '../../database/database.js';
import { identifier, type Sql, sql, statement } from '../../database/sql.js';

/** What a request says about a redirect. */
export type RedirectRequest = Pick<
  TokenRequest,
  'redirect_to' | 'code_challenge' | 'login_hint' | 'prompt' | 'max_age'
>;

/**
 * What a login by redirect keeps in the challenge of its authentication, from its start to its end. Links, proofs and tests
 * keep it in their challenge. Times are milliseconds by the database's clock.
 */
export interface RedirectState {
  /** Where the browser returns to. Undefined for a test, which ends with a page. */
  readonly to?: string | undefined;
  /** The client's PKCE challenge (S256). Whoever ends the login must know its verifier. */
  readonly codeChallenge?: string | undefined;
  readonly loginHint?: string | undefined;
  /** Whether the person has to log in at the provider again, and the provider has to say so. */
  readonly isFresh?: boolean | undefined;
  /** How often browsers have opened the address of the login. */
  readonly visits?: number | undefined;
  /** Each time that a browser came back from the provider. */
  readonly returns: readonly Return[];
  /** The code that the app got. Only one return gets one. */
  readonly code?: { readonly digest: string; readonly until: number } | undefined;
  /** The provider's account, or the login of the pages, encrypted. */
  readonly account?: string | undefined;
  /** How far a test has got. */
  readonly test?: TestProgress | undefined;
  /** At the pages of this service: whether the person has to sign in again. */
  readonly prompt?: 'login' | undefined;
  /** At the pages of this service: how old the login there may be, in seconds. */
  readonly maxAge?: number | undefined;
  /** The id of the login of the pages that has answered. The logout of the app ends it, see `endAuthentication`. */
  readonly pageLogin?: string | undefined;
}

/** How far a test has got, and why it failed. */
export interface TestProgress {
  /** The step that is next, or at which it failed. */
  readonly step: ProviderStep;
  readonly problem?:
    | { readonly code: ProviderProblemCode; readonly detail: string | undefined; readonly at: number }
    | undefined;
}

/** A browser that came back from the provider. */
export interface Return {
  /** The digest of `state`. */
  readonly state: string;
  /** An answer that the provider has posted, encrypted, which the browser fetches its result with. */
  readonly posted?: { readonly answer: string; readonly until: number } | undefined;
  /** When the exchange with the provider began. */
  readonly exchangedAt?: number | undefined;
  /** Where the browser was sent at the end, or the page that it got, encrypted. A repeated callback gets the same. */
  readonly result?: { readonly next: string; readonly until: number } | undefined;
}

/** The row of a login by redirect, or of a challenge: a link or a proof of a user with a session, or a test. */
export interface RedirectLogin {
  readonly kind: 'login' | 'challenge';
  readonly id: string;
  readonly userId: string;
  readonly authenticator: string;
  /** Whether it waits for the provider or for the app's code. */
  readonly isOpen: boolean;
  /** When it began. */
  readonly createdAt: number;
  /** When it ends. RFC 3339. */
  readonly expiresAt: string;
  /** The time now. */
  readonly now: number;
  readonly state: RedirectState;
}

interface Row extends Omit<RedirectLogin, 'state'> {
  readonly redirect: string | null;
}

const times = sql`(extract(epoch from created_at) * 1000)::float8 as "createdAt",
  (extract(epoch from db_now()) * 1000)::float8 as now`;

const loginColumns = sql`'login' as kind, id, user_id as "userId", authenticator, challenge->>'redirect' as redirect,
  status = 'pending' and factor = 1 and ended_at is null and challenge_ends_at > db_now() as "isOpen",
  ${timeText(sql`challenge_ends_at`)} as "expiresAt", ${times}`;

const challengeColumns = sql`'challenge' as kind, id, user_id as "userId", kept->>'authenticator' as authenticator,
  kept->>'redirect' as redirect, ended_at is null and expires_at > db_now() as "isOpen",
  ${timeText(sql`expires_at`)} as "expiresAt", ${times}`;

const find = statement<{ id: string }, Row>(
  'redirect_find',
  (p) => sql`
  select ${loginColumns} from authentications where id = ${p.id}
  union all
  select ${challengeColumns} from challenges where id = ${p.id}`,
);

interface Key {
  readonly userId: string;
  readonly id: string;
}

/** The statements for one kind of login. `state` is the column whose member `redirect` they change. */
const statementsOf = (table: string, state: string, columns: Sql) => ({
  lock: statement<Key, Row>(
    `redirect_lock_${table}`,
    (p) => sql`
    select ${columns} from ${identifier(table)} where user_id = ${p.userId} and id = ${p.id} for no key update`,
  ),
  store: statement<Key & { redirect: string; isAnswered: boolean }>(
    `redirect_store_${table}`,
    (p) => sql`
    update ${identifier(table)}
    set ${identifier(state)} = ${identifier(state)} || jsonb_build_object('redirect', ${p.redirect}::text),
        guesses = case when ${p.isAnswered} then greatest(guesses, 2) else guesses end
    where user_id = ${p.userId} and id = ${p.id}`,
  ),
});

const statements = {
  login: statementsOf('authentications', 'challenge', loginColumns),
  challenge: statementsOf('challenges', 'kept', challengeColumns),
};

/** A login at a provider without a redirect has begun with an id_token in view, and returns nowhere. */
function loginOf(row: Row | undefined): RedirectLogin | undefined {
  if (row === undefined) return undefined;
  const { redirect, ...login } = row;
  if (redirect !== null) return { ...login, state: JSON.parse(redirect) };
  return /^(?:oidc|oauth):/.test(login.authenticator ?? '') ? { ...login, state: { returns: [] } } : undefined;
}

/** Finds a login or a challenge by redirect by its id alone. Undefined if there is none. */
export async function findRedirectLogin(handle: Queryable, id: string): Promise<RedirectLogin | undefined> {
  return loginOf((await handle.query(find({ id })))[0]);
}

/**
 * Changes the state of a login or a challenge, unless `next` returns undefined. Once it has a code, three of its five guesses are
 * left.
 * @returns whether it changed
 */
export function changeRedirectState(
  database: Database,
  { kind, userId, id }: Pick<RedirectLogin, 'kind' | 'userId' | 'id'>,
  next: (current: RedirectLogin) => RedirectState | undefined,
): Promise<boolean> {
  return database.user(userId).transaction(async (tx) => {
    const current = loginOf((await tx.query(statements[kind].lock({ userId, id })))[0]);
    const state = current && next(current);
    if (state === undefined) return false;
    await tx.query(
      statements[kind].store({ userId, id, redirect: JSON.stringify(state), isAnswered: state.code !== undefined }),
    );
    return true;
  });
}
