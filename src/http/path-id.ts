import { Type } from 'typebox';
import { parseId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';

/** The parameters of a path with an id. */
export const IdParams = Type.Object({ id: Type.String() });

/** @throws Problem `not_found`: a text that is no id names nothing. */
export function pathId(params: { readonly id: string }): string {
  const id = parseId(params.id);
  if (id === undefined) throw new Problem('not_found');
  return id;
}
