import type { PosternError } from '../errors.js';
import type { LoginIssue } from './states.js';

/** What the user can do about an error, for the next state of a login. */
export function issueOf(error: PosternError): LoginIssue {
  const { message } = error;
  if (error.kind === 'cancelled' || error.kind === 'unsupported') return { kind: error.kind, message };
  if (error.kind === 'network') return { kind: 'offline', message };
  if (error.kind === 'problem') {
    if (error.code === 'code_rejected') return { kind: 'wrong', message };
    if (error.code === 'authorization_rejected') {
      const used = error.errors.find(({ code }) => code === 'code_used');
      return used === undefined
        ? { kind: 'wrong', message }
        : { kind: 'invalid', message: used.message, errors: error.errors };
    }
    if (error.code === 'validation_failed') return { kind: 'invalid', message, errors: error.errors };
    if (error.retry !== null) return { kind: 'wait', message, ...error.retry };
  }
  return { kind: 'failed', message, error };
}
