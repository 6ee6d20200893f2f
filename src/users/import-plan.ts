import { type SchemeRules, schemeProblem } from '../credentials/password-schemes.js';
import type { DirectoryType } from '../identities/identity.js';
import { type FieldError, Problem } from '../lib/problem.js';

/** A user to import, checked as far as possible without the database. */
export interface ImportCandidate {
  /** The id that the import gives, or a new id. */
  readonly id: string;
  readonly hasGivenId: boolean;
  /** The identities, with their digests in hexadecimal. */
  readonly identities: readonly { readonly type: DirectoryType; readonly digest: string }[];
  /** The scheme of an imported hash, unless it is the current one. */
  readonly scheme: string | undefined;
  /** RFC 3339. Undefined: now. */
  readonly createdAt: string | undefined;
}

/** The state of the database that decides about candidates. */
export interface ImportState {
  /** The ids of users, by the digests of their identities. */
  readonly owners: ReadonlyMap<string, string>;
  /** The given ids that belong to users. `deletedIds` has those that belonged to deleted users. */
  readonly ids: ReadonlySet<string>;
  readonly deletedIds: ReadonlySet<string>;
  readonly schemes: ReadonlySet<string>;
  /** RFC 3339, by the clock of the database. */
  readonly now: string;
}

/** The decision about a candidate: to create the user, the id of a user that already exists, or a refusal. */
export type ImportDecision = { readonly create: ImportCandidate } | { readonly exists: string } | Problem;

/**
 * Decides about candidates one after the other, as if all earlier candidates already existed. So the result does not
 * depend on how a file is split into chunks.
 *
 * A candidate exists already when a user has the given id or, without a given id, when all identities belong to one
 * user. That makes it safe to send a file again. The id of a deleted user is refused, because rows of that user may
 * still exist and would then belong to the new user.
 */
export function planImport(
  candidates: readonly ImportCandidate[],
  state: ImportState,
  rules: SchemeRules,
): ImportDecision[] {
  const owners = new Map(state.owners);
  const ids = new Set(state.ids);
  const schemes = new Set(state.schemes);

  function decide(candidate: ImportCandidate): ImportDecision {
    const { id, hasGivenId, identities, scheme, createdAt } = candidate;
    if (ids.has(id)) return { exists: id };
    const takenIdentities = identities.filter(({ digest }) => owners.has(digest));
    const [owner, ...others] = new Set(takenIdentities.map(({ digest }) => owners.get(digest)));
    const isOneUser = takenIdentities.length === identities.length && others.length === 0;
    if (!hasGivenId && isOneUser && owner !== undefined) return { exists: owner };

    if (takenIdentities.length > 0) {
      return new Problem('identity_taken', {
        errors: takenIdentities.map(({ type: field }) => ({ field, code: 'identity_taken' })),
      });
    }
    if (state.deletedIds.has(id)) return validationProblem({ field: 'id', code: 'deleted_user' });
    if (createdAt !== undefined && createdAt > state.now)
      return validationProblem({ field: 'created_at', code: 'time_in_future' });
    const refusal = scheme === undefined ? undefined : schemeProblem(scheme, schemes, rules);
    if (refusal !== undefined) return refusal;
    ids.add(id);
    for (const { digest } of identities) owners.set(digest, id);
    if (scheme !== undefined) schemes.add(scheme);
    return { create: candidate };
  }
  return candidates.map(decide);
}

function validationProblem(error: FieldError): Problem {
  return new Problem('validation_failed', { errors: [error] });
}
