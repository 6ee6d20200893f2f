import { errors } from '../../contract/errors/problems.js';
import type { Answer, Reason } from '../../contract/login-diagnosis/login-diagnosis.js';
import type { LoginReasonCode } from '../../contract/login-diagnosis/texts.js';
import type { Problem } from '../../lib/problem.js';

/** A reason before its text is added. The values of the text's placeholders are `data` and `until`. */
export type Finding = Omit<Reason, 'message'>;

type Details = Partial<Pick<Finding, 'since' | 'until' | 'data' | 'remedies'>>;

const finding = (code: LoginReasonCode, effect: Finding['effect'], details: Details): Finding => ({
  ...{ code, effect, since: null, until: null, data: {}, remedies: [] },
  ...details,
});

/** A reason that refuses the login. */
export const blocker = (code: LoginReasonCode, details: Details = {}) => finding(code, 'blocks', details);
/** A reason that does not refuse the login, but matters to it. */
export const note = (code: LoginReasonCode, details: Details = {}) => finding(code, 'note', details);

/** An answer without its step. */
export type Refusal = Omit<Answer, 'step'>;

/** A rule of a login that refuses it now, with the answer of the step that applies the rule. */
export interface Check {
  readonly finding: Finding;
  readonly refusal: Refusal;
  /** Whether the reason concerns every way, and not only this one. */
  readonly isOfAccount: boolean;
}

/** The answer of a step that this problem refuses. */
export function refusedBy(problem: Problem): Refusal {
  return { status: errors[problem.code].status, authentication_status: null, code: problem.code };
}

/** The answer to wrong secrets in one step, and in a further step. */
export const rejectedAtStart: Refusal = {
  ...{ status: 201, authentication_status: 'rejected', code: 'invalid_credentials' },
};
export const rejectedLater: Refusal = {
  ...{ status: errors.authorization_rejected.status, authentication_status: null, code: 'authorization_rejected' },
};

/** When all of the reasons have ended by themselves; null if one of them does not. */
export function endOf(findings: readonly Finding[]): string | null {
  const ends = findings.flatMap(({ until }) => until ?? []).toSorted();
  return ends.length === findings.length ? (ends.at(-1) ?? null) : null;
}
