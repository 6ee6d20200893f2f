import { errors } from '../../contract/errors/problems.js';
import type { Answer, Way } from '../../contract/login-diagnosis/login-diagnosis.js';
import { providerProblems } from '../../contract/login-provider/problems.js';
import type { SecondFactors } from '../../credentials/factors/second-factor.js';
import { type PinPolicy, pinRule } from '../../credentials/pins/pin-check.js';
import type { Pins } from '../../credentials/pins/pins.js';
import type { AccountUser } from '../../identities/accounts.js';
import type { Identity } from '../../identities/identity.js';
import { Problem } from '../../lib/problem.js';
import { type Authenticator, identifiesUser, type Requirement, takesPin } from '../authenticators/authenticator.js';
import { currentFault, type PastProblem, type ProviderHistory } from '../providers/provider-health.js';
import type { AccountChecks } from './account-checks.js';
import { remediedUser } from './account-checks.js';
import type { CodeChecks } from './code-checks.js';
import {
  blocker,
  type Check,
  endOfAll,
  type Finding,
  note,
  refusalWith,
  rejectedAtStart,
  rejectedLater,
} from './finding.js';
import { remedies } from './remedies.js';
import type { Subject } from './subject.js';

/** A way to log in before the texts are added. */
export type DiagnosedWay = Omit<Way, 'reasons'> & { readonly reasons: readonly Finding[] };

export interface WayOptions {
  readonly pins: Pins;
  readonly pinPolicy: PinPolicy;
  readonly secondFactors: SecondFactors;
}

/** A step of a login: the rules that refuse it, in the order of the login, and its answer if none does. */
interface Step {
  readonly name: Answer['step'];
  readonly checks: readonly (Check | undefined)[];
  /** Undefined: Postern cannot know the answer. */
  readonly answer: 'created' | 'pending' | 'approved' | undefined;
}

interface Plan {
  readonly steps: readonly Step[];
  readonly isSetUp: boolean;
  readonly notes: readonly Finding[];
}

/** Predicts a login by one authenticator, step by step as `login.ts` and `second-step.ts` decide it. */
export async function diagnoseWay(
  options: WayOptions,
  authenticator: Authenticator | { readonly name: string; readonly isMissing: true },
  login: {
    readonly subject: Subject;
    readonly identity: Identity | undefined;
    readonly account: AccountChecks;
    readonly code: CodeChecks;
    /** What happened in logins with this provider. */
    readonly history: ProviderHistory | undefined;
  },
): Promise<DiagnosedWay> {
  const { subject, identity, account, code, history } = login;
  const isMissing = 'isMissing' in authenticator;
  const rule = isMissing || !takesPin(authenticator) ? 'ignored' : pinRule(options.pinPolicy, subject.user?.account);
  const plan = isMissing
    ? missingPlan(authenticator.name)
    : await planOf(options, authenticator, subject, account, code, rule);
  const notes = [...plan.notes, ...(history === undefined ? [] : providerNotes(history, subject.now))];
  const { answers, isRefused, isKnown } = predictAnswers(plan.steps);
  const checks = plan.steps.flatMap((step) => step.checks.flatMap((check) => check ?? []));
  const ownFindings = unique(checks.filter(({ concernsEveryWay }) => !concernsEveryWay).map(({ finding }) => finding));
  const isUncertain = !isKnown || notes.some(({ code: reason }) => uncertain.includes(reason));
  const verdict = verdictOf({ isSetUp: plan.isSetUp, isRefused, isUncertain, hasOwnBlocker: ownFindings.length > 0 });
  return {
    authenticator: authenticator.name,
    verdict,
    until: isRefused ? endOfAll(checks.map(({ finding }) => finding)) : null,
    identity: identity === undefined ? null : { type: identity.type, value: identity.canonical },
    pin: rule,
    answers,
    reasons: [...ownFindings, ...notes],
  };
}

/** Notes that mean that the login may still fail, although no rule refuses it. */
const uncertain: readonly string[] = ['decided_elsewhere', 'last_message_failed', 'provider_fails'];

function verdictOf(way: {
  readonly isSetUp: boolean;
  readonly isRefused: boolean;
  readonly isUncertain: boolean;
  readonly hasOwnBlocker: boolean;
}): Way['verdict'] {
  if (!way.isSetUp) return 'not_set_up';
  if (way.isRefused) return way.hasOwnBlocker ? 'no' : 'blocked';
  return way.isUncertain ? 'maybe' : 'yes';
}

const unique = (findings: readonly Finding[]) =>
  findings.filter((finding, place) => findings.findIndex(({ code }) => code === finding.code) === place);

/** The answers of the steps until the first one that is refused or not known. */
function predictAnswers(steps: readonly Step[]): { answers: Answer[]; isRefused: boolean; isKnown: boolean } {
  const answers: Answer[] = [];
  for (const { name, checks, answer } of steps) {
    const refusal = checks.find((check) => check !== undefined)?.refusal;
    if (refusal !== undefined)
      return { answers: [...answers, { step: name, ...refusal }], isRefused: true, isKnown: true };
    if (answer === undefined) return { answers, isRefused: false, isKnown: false };
    answers.push({ step: name, status: 201, authentication_status: answer, code: null });
  }
  return { answers, isRefused: false, isKnown: true };
}

/** The setting that configures an authenticator. */
const settingOf: Readonly<Record<string, string>> = { sms: 'SMS_PROVIDER', email: 'MAIL_PROVIDER' };

function missingPlan(name: string): Plan {
  const setting = settingOf[name] ?? (/^(?:oidc|oauth):/.test(name) ? 'OIDC_PROVIDERS' : 'CUSTOM_AUTHENTICATORS');
  const finding = blocker('not_configured', { remedies: [remedies.configure(setting)] });
  const refusal = refusalWith(new Problem('validation_failed'));
  return {
    steps: [{ name: 'start', checks: [{ finding, refusal, concernsEveryWay: false }], answer: undefined }],
    isSetUp: false,
    notes: [],
  };
}

async function planOf(
  options: WayOptions,
  authenticator: Authenticator,
  subject: Subject,
  account: AccountChecks,
  code: CodeChecks,
  rule: Way['pin'],
): Promise<Plan> {
  const { user } = subject;
  const missing = user && (await authenticator.findMissing?.(user.account));
  const finding = missing && missingFinding(missing, authenticator, subject);
  const findings: Finding[] = [...(finding?.effect === 'blocks' ? [finding] : []), ...code.notSent];
  const notes: Finding[] = [...(finding?.effect === 'note' ? [finding] : []), ...code.notes];
  if (authenticator.findMissing === undefined) notes.push(note('decided_elsewhere'));
  if (user !== undefined && rule !== 'ignored') {
    const { pinHash } = user.account;
    if (pinHash !== undefined && !options.pins.isReadable(pinHash)) {
      findings.push(blocker('pin_unreadable', { remedies: [remedies.removePin(remediedUser(subject))] }));
    }
    if (pinHash === undefined && options.pinPolicy === 'required') {
      notes.push(note('pin_missing', { remedies: [remedies.setPin()] }));
    }
    if (user.nextPinAt !== null) notes.push(note('pin_replacement_pending', { until: user.nextPinAt }));
  }
  const { app, factor } = await secondFactorOf(options, authenticator, subject);
  if (app?.effect === 'note') notes.push(app);
  const steps = stepsOf(authenticator, {
    account,
    code,
    own: findings,
    factor,
    hasMoreSteps: user !== undefined && asksMore(options.secondFactors, authenticator, user.account),
    unreadableApp: app?.effect === 'blocks' ? app : undefined,
    isOpenEnded: finding?.effect === 'note',
  });
  return { steps, isSetUp: missing === undefined, notes };
}

/** Whether a login has a second factor, and a reason if Postern cannot read the secret of the authenticator app. */
async function secondFactorOf(
  { secondFactors }: WayOptions,
  authenticator: Authenticator,
  subject: Subject,
): Promise<{ readonly factor: boolean; readonly app?: Finding }> {
  const { user } = subject;
  // A passkey that verifies its user is two factors.
  if (user === undefined || authenticator.name === 'passkey') return { factor: false };
  const { account } = user;
  if (!secondFactors.isRequired(account)) return { factor: false };
  if (!account.hasTotp || (await secondFactors.isAppReadable(account))) return { factor: true };
  const details = { remedies: [remedies.removeSecondFactors(remediedUser(subject))] };
  return { factor: true, app: (account.hasPasskey ? note : blocker)('app_unreadable', details) };
}

/** Whether a login ends with a new password or the enrolment of a factor. The diagnosis predicts neither. */
function asksMore(secondFactors: SecondFactors, { name, steps }: Authenticator, user: AccountUser): boolean {
  if (name === 'passkey') return false;
  if (steps === 1 && name === 'password' && user.mustChangePassword) return true;
  return secondFactors.policyOf(user) === 'required' && !secondFactors.hasSecondFactor(user);
}

interface StepParts {
  readonly account: AccountChecks;
  readonly code: CodeChecks;
  /** The reasons why every secret is wrong, if they concern only this way. */
  readonly own: readonly Finding[];
  readonly factor: boolean;
  readonly hasMoreSteps: boolean;
  readonly unreadableApp: Finding | undefined;
  /** Whether the answer to the right secret depends on what Postern does not know yet. */
  readonly isOpenEnded: boolean;
}

function stepsOf(authenticator: Authenticator, parts: StepParts): Step[] {
  const { account, code, own, factor, hasMoreSteps, unreadableApp } = parts;
  const isKnown = authenticator.findMissing !== undefined;
  const last = hasMoreSteps ? 'pending' : 'approved';
  const answer = factor ? 'pending' : last;
  const answerIfKnown = isKnown ? answer : undefined;
  const userIsMissing = (refusal: typeof rejectedLater) =>
    account.noActiveUser && { finding: account.noActiveUser, refusal, concernsEveryWay: true };
  const rejected = (refusal: typeof rejectedLater): Check[] =>
    own.map((finding) => ({ finding, refusal: unreadableHash(finding) ?? refusal, concernsEveryWay: false }));
  const secondFactorStep = (requestNumber: number, accountRequestNumber = requestNumber): Step[] => {
    if (!factor) return [];
    const refusal = refusalWith(new Problem('secret_unreadable'));
    const app = unreadableApp && { finding: unreadableApp, refusal, concernsEveryWay: false };
    const checks = [account.address(requestNumber), account.account(accountRequestNumber), account.guessLock, app];
    return [{ name: 'second_factor', checks, answer: last }];
  };
  if (authenticator.steps === 1) {
    const checks = [
      account.address(1),
      account.account(1),
      account.guessLock,
      userIsMissing(rejectedAtStart),
      ...rejected(rejectedAtStart),
      account.operatorLock,
    ];
    return [{ name: 'start', checks, answer: answerIfKnown }, ...secondFactorStep(2)];
  }
  if (identifiesUser(authenticator)) {
    const checks = [
      account.address(2),
      userIsMissing(rejectedLater),
      ...rejected(rejectedLater),
      account.account(1),
      account.guessLock,
      account.operatorLock,
    ];
    const start: Step = { name: 'start', checks: [account.address(1)], answer: isKnown ? 'pending' : undefined };
    if (parts.isOpenEnded) return [start, { name: 'secret', checks, answer: undefined }];
    return [start, { name: 'secret', checks, answer: answerIfKnown }, ...secondFactorStep(3, 2)];
  }
  const start = [account.address(1), account.account(1), ...code.start];
  const checks = [
    account.address(2),
    account.account(2),
    account.guessLock,
    userIsMissing(rejectedLater),
    ...rejected(rejectedLater),
    account.operatorLock,
  ];
  return [
    { name: 'start', checks: start, answer: isKnown ? 'created' : undefined },
    { name: 'secret', checks, answer: answerIfKnown },
    ...secondFactorStep(3),
  ];
}

/** The refusal of a login that reads a hash which Postern cannot verify. */
function unreadableHash({ code }: Finding) {
  if (code !== 'password_hash_unreadable') return undefined;
  return { status: errors.internal_error.status, authentication_status: null, code: 'internal_error' };
}

function missingFinding(missing: Requirement, authenticator: Authenticator, subject: Subject): Finding {
  const user = remediedUser(subject);
  switch (missing) {
    case 'password':
      return blocker('no_password', { remedies: [remedies.setPassword(user)] });
    case 'readable_password_hash':
      return blocker('password_hash_unreadable', { remedies: [remedies.setPassword(user)] });
    case 'phone':
      return blocker('no_phone', { remedies: [remedies.setPhone(user)] });
    case 'email':
      return blocker('no_email', { remedies: [remedies.setEmail(user)] });
    case 'proven_phone':
      return blocker('phone_not_proven', { remedies: [remedies.verifyPhone(user)] });
    case 'proven_email':
      return blocker('email_not_proven', { remedies: [remedies.verifyEmail(user)] });
    case 'passkey':
      return blocker('no_passkey', { remedies: [remedies.enrolPasskey()] });
    case 'external_identity': {
      const provider = authenticator.name.replace(/^(?:oidc|oauth):/, '');
      const details = { remedies: [remedies.linkExternalIdentity(user, provider)] };
      const signsUp = identifiesUser(authenticator) && authenticator.signsUp === true;
      return signsUp ? note('external_identity_not_linked', details) : blocker('no_external_identity', details);
    }
  }
}

/** Milliseconds in which a refusal may still be what the person asks about. */
const recently = 86_400_000;

/** Whether the provider fails now, and why logins with it were refused. The person may be one of those. */
function providerNotes(history: ProviderHistory, now: string): Finding[] {
  const fault = currentFault(history);
  const isRecent = ({ at }: PastProblem) => Date.parse(at) > Date.parse(now) - recently;
  const refusals = history.problems.filter(
    // The link that is missing is a reason of its own.
    (problem) => problem !== fault && problem.code !== 'not_linked' && isRecent(problem),
  );
  const noteOf = (code: 'provider_fails' | 'provider_refused', { code: problem, detail, at }: PastProblem) => {
    const { setting } = providerProblems[problem];
    return note(code, {
      since: at,
      data: { problem, ...(detail !== null && { detail }) },
      remedies: setting === null ? [] : [remedies.configure(setting)],
    });
  };
  return [
    ...(fault === undefined ? [] : [noteOf('provider_fails', fault)]),
    ...refusals.map((problem) => noteOf('provider_refused', problem)),
  ];
}
