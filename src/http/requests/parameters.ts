import { Type } from 'typebox';
import { parseId } from '../../lib/ids.js';
import { choiceError, Problem, throwIfErrors } from '../../lib/problem.js';

/** A parsed query string. A repeated parameter is an array. */
export type QueryParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameters of a path that contains an id. */
export const IdParams = Type.Object({ id: Type.String() });

/** @throws Problem `not_found` if the text is no id */
export function pathId(params: { readonly id: string }): string {
  const id = parseId(params.id);
  if (id === undefined) throw new Problem('not_found');
  return id;
}

/** The query of a route that has a dry run. */
export const dryRunQuery = (description: string) =>
  Type.Object({
    dry_run: Type.Optional(Type.Unsafe<string>({ type: 'boolean', default: false, description })),
  });

/** @throws Problem `validation_failed` */
export function readDryRun({ dry_run: text = 'false' }: QueryParameters): boolean {
  if (Array.isArray(text)) throwIfErrors([{ field: 'dry_run', code: 'repeated_parameter' }]);
  if (text !== 'true' && text !== 'false') throwIfErrors([choiceError('dry_run', ['true', 'false'])]);
  return text === 'true';
}
