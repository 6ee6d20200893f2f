import { errors } from '../../contract/errors/problems.js';
import type { Answer, Reason } from '../../contract/login-diagnosis/login-diagnosis.js';
import type { LoginReasonCode } from '../../contract/login-diagnosis/texts.js';
import type { Problem } from '../../lib/problem.js';

/** A reason without its text. The text is added later, and its placeholders get the values in `data` and `until`. */
export type Finding = Omit<Reason, 'message'>;

type Details = Partial<Pick<Finding, 'since' | 'until' | 'data' | 'remedies'>>;

const createFinding = (code: LoginReasonCode, effect: Finding['effect'], details: Details): Finding => ({
  code,
  effect,
  since: null,
  until: null,
  data: {},
  remedies: [],
  ...details,
});

/** Creates a reason for which Postern refuses the login. */
export const blocker = (code: LoginReasonCode, details: Details = {}) => createFinding(code, 'blocks', details);
/** Creates a reason that the reader should know, although Postern does not refuse the login for it. */
export const note = (code: LoginReasonCode, details: Details = {}) => createFinding(code, 'note', details);

/** The answer with which a step refuses the login. The name of the step is added later. */
export type Refusal = Omit<Answer, 'step'>;

/** A rule for which Postern refuses the login now, and the answer of the step that applies the rule. */
export interface Check {
  readonly finding: Finding;
  readonly refusal: Refusal;
  /** Whether the reason concerns every way to log in, and not only the way that has this check. */
  readonly concernsEveryWay: boolean;
}

/** The answer of a step that fails with this problem. */
export function refusalWith(problem: Problem): Refusal {
  return { status: errors[problem.code].status, authentication_status: null, code: problem.code };
}

/** The answer to a wrong secret in the first step. */
export const rejectedAtStart: Refusal = { status: 201, authentication_status: 'rejected', code: 'invalid_credentials' };
/** The answer to a wrong secret in a later step. */
export const rejectedLater: Refusal = {
  status: errors.authorization_rejected.status,
  authentication_status: null,
  code: 'authorization_rejected',
};

/** The time at which all reasons have ended by themselves. Null if at least one reason does not end by itself. */
export function endOfAll(findings: readonly Finding[]): string | null {
  const ends = findings.flatMap(({ until }) => until ?? []).toSorted();
  return ends.length === findings.length ? (ends.at(-1) ?? null) : null;
}
