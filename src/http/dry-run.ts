import { Type } from 'typebox';
import { choiceFault, refuseFaults } from '../lib/problem.js';
import type { QueryParameters } from './list-query.js';

/** The query of a route that can try what it would do. */
export const dryRunQuery = (description: string) =>
  Type.Object({
    dry_run: Type.Optional(Type.Unsafe<string>({ type: 'boolean', default: false, description })),
  });

/** @throws Problem `validation_failed` */
export function readDryRun({ dry_run: given = 'false' }: QueryParameters): boolean {
  if (Array.isArray(given)) refuseFaults([{ field: 'dry_run', code: 'repeated_parameter' }]);
  if (given !== 'true' && given !== 'false') refuseFaults([choiceFault('dry_run', ['true', 'false'])]);
  return given === 'true';
}
