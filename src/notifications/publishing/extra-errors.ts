import type { NotificationChange, NotificationInput } from '../../contract/notification.js';
import type { FieldError } from '../../lib/problem.js';
import { parseTime } from '../../lib/times.js';
import { lengthErrors } from '../categories/data-schema.js';
import { isGiven } from './content.js';

/** The errors in the members that only `include=extra` shows: `data`, `url`, `actions` and `expires_at`. */
export function extraErrors(
  { data, url, actions, expires_at: expiresAt }: NotificationInput | NotificationChange,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (isGiven(data)) errors.push(...dataErrors(data, `${path}data`));
  if (isGiven(url) && !opensSafely(url)) errors.push(urlError(`${path}url`));
  const keys = new Set<string>();
  for (const [index, action] of (actions ?? []).entries()) {
    const field = `${path}actions.${index}`;
    if (keys.has(action.key)) errors.push({ field: `${field}.key`, code: 'duplicate_items' });
    keys.add(action.key);
    if (isGiven(action.url) && !opensSafely(action.url)) errors.push(urlError(`${field}.url`));
  }
  if (isGiven(expiresAt) && parseTime(expiresAt) === undefined) {
    errors.push({ field: `${path}expires_at`, code: 'invalid_time' });
  }
  return errors;
}

function dataErrors(data: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  const errors = lengthErrors(data, field);
  if (errors.length > 0) return errors;
  return hasInexactNumber(data) ? [{ field, code: 'inexact_number' }] : [];
}

/** Whether a value contains a whole number that a double has rounded. The depth of requests is bounded. */
function hasInexactNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInexactNumber);
}

const urlError = (field: string): FieldError => ({
  field,
  code: 'invalid_url',
  params: { reason: 'only https, or a private scheme with a dot such as com.example.app' },
});

/** Private schemes contain a dot, so that they do not conflict with schemes of the system (RFC 8252, section 7.1). */
const privateScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** Whether a link may be shown: no scheme that runs code or reads files, no password, no character that hides the target. */
function opensSafely(text: string): boolean {
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return username === '' && password === '' && (/^https:\/\//i.test(text) || privateScheme.test(protocol));
}
