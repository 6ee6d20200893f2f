import { Type } from 'typebox';
import { choiceError, type FieldError } from '../../lib/problem.js';
import { type InboxView, inboxViews } from '../../notifications/inbox/extras.js';
import type { QueryParameters } from '../requests/parameters.js';
import { singleParameter } from './position-query.js';

/** The parameter that adds the member `extra` to notifications. */
export const includeParameter = Type.Optional(
  Type.Unsafe<string>({
    type: 'string',
    enum: ['extra'],
    description: 'extra: each notification has the member `extra`, with its state and what the app has added.',
  }),
);

export const viewParameter = Type.Optional(
  Type.Unsafe<string>({
    type: 'string',
    enum: [...inboxViews],
    description:
      'Only with `include=extra`. inbox: neither archived, snoozed nor expired. archived. snoozed: snoozed now, and not archived.',
  }),
);

/** Whether a request has `include=extra`. It adds to `errors`. */
export function readInclude(query: QueryParameters, errors: FieldError[]): boolean {
  const include = singleParameter(query, 'include', errors);
  if (include !== undefined && include !== 'extra') errors.push(choiceError('include', ['extra']));
  return include === 'extra';
}

/** The view that a request names. It adds to `errors`. */
export function readView(query: QueryParameters, includesExtra: boolean, errors: FieldError[]): InboxView | undefined {
  const text = singleParameter(query, 'view', errors);
  const view = inboxViews.find((name) => name === text);
  if (text !== undefined && view === undefined) errors.push(choiceError('view', [...inboxViews]));
  if (view !== undefined && !includesExtra) errors.push({ field: 'include', code: 'required' });
  return view;
}
