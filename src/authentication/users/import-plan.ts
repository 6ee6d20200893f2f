import { type FieldError, Problem } from '../../lib/problem.js';
import type { IdentityType } from '../identities/identity.js';
import { refuseScheme, type SchemeRules } from '../secrets/password-schemes.js';

/** A user who could be imported, as far as that can be told without the database. */
export interface Candidate {
  /** The given one, or a new one. */
  readonly id: string;
  readonly hasGivenId: boolean;
  /** By digest, in hexadecimal. */
  readonly identities: readonly { readonly type: IdentityType; readonly digest: string }[];
  /** The scheme of an imported hash that is not today's. */
  readonly scheme: string | undefined;
  /** An instant; undefined: now. */
  readonly createdAt: string | undefined;
}

/** What the database knows of the candidates. */
export interface Known {
  /** Whom identities name, by digest. */
  readonly owners: ReadonlyMap<string, string>;
  /** Of the given ids those that users have, and those that deleted users had. */
  readonly ids: ReadonlySet<string>;
  readonly deletedIds: ReadonlySet<string>;
  readonly schemes: ReadonlySet<string>;
  /** An instant. */
  readonly now: string;
}

/** What is to become of a candidate: a user to create, one who is there already, or a refusal. */
export type Decision = { readonly create: Candidate } | { readonly exists: string } | Problem;

/**
 * Decides for candidates one after the other, each as if those before it were made: so it is the same whether two of them
 * come in one chunk or in two.
 *
 * A candidate is there already when a user has the given id, or when, without one, all identities name one user. That makes
 * it safe to send a file again. The id of a deleted user is refused: what is still left of that user would become another's.
 */
export function planImport(candidates: readonly Candidate[], known: Known, rules: SchemeRules): Decision[] {
  const owners = new Map(known.owners);
  const ids = new Set(known.ids);
  const schemes = new Set(known.schemes);

  function decide(candidate: Candidate): Decision {
    const { id, hasGivenId, identities, scheme, createdAt } = candidate;
    if (ids.has(id)) return { exists: id };
    const taken = identities.filter(({ digest }) => owners.has(digest));
    const [owner, ...others] = new Set(taken.map(({ digest }) => owners.get(digest)));
    const isOneUser = taken.length === identities.length && others.length === 0;
    if (!hasGivenId && isOneUser && owner !== undefined) return { exists: owner };

    if (taken.length > 0) {
      return new Problem('identity_taken', {
        errors: taken.map(({ type: field }) => ({ field, code: 'identity_taken' })),
      });
    }
    if (known.deletedIds.has(id)) return fault({ field: 'id', code: 'deleted_user' });
    if (createdAt !== undefined && createdAt > known.now) return fault({ field: 'created_at', code: 'time_in_future' });
    const refusal = scheme === undefined ? undefined : refuseScheme(scheme, schemes, rules);
    if (refusal !== undefined) return refusal;
    ids.add(id);
    for (const { digest } of identities) owners.set(digest, id);
    if (scheme !== undefined) schemes.add(scheme);
    return { create: candidate };
  }
  return candidates.map(decide);
}

function fault(error: FieldError): Problem {
  return new Problem('validation_failed', { errors: [error] });
}
