import { externalIdPrefix } from '../../contract/common.js';
import type { UserReferences } from '../../identities/user-references.js';
import { throwIfErrors } from '../../lib/problem.js';

/** A clause of a filter (lib/filter/parse.ts). */
const clauses = /(?:\\.|[^,|\\])+/gs;
/** A value that names a user by an external id. Its colon need not be escaped. */
const externalValues = /(?<=[:;[])external\\?:((?:\\.|[^:;[\]\\])+)/gs;

const referenceOf = (value: string) => `${externalIdPrefix}${value.replace(/\\(.)/gs, '$1')}`;

/**
 * Replaces external ids in the clauses of `user_id` by the ids of their users, in one query.
 * @throws Problem `validation_failed` if nobody has the external id
 */
export async function withUserIdsInFilter(references: UserReferences, filter: string): Promise<string> {
  const replaceAll = (replacement: (reference: string) => string) =>
    filter.replace(clauses, (clause) =>
      clause.startsWith('user_id:')
        ? clause.replace(externalValues, (_text, value: string) => replacement(referenceOf(value)))
        : clause,
    );
  const named = new Set<string>();
  replaceAll((reference) => {
    named.add(reference);
    return '';
  });
  if (named.size === 0) return filter;
  const idsByReference = await references.findAll([...named]);
  if (idsByReference.size < named.size) throwIfErrors([{ field: 'filter', code: 'unknown_user' }]);
  return replaceAll((reference) => idsByReference.get(reference) ?? '');
}
