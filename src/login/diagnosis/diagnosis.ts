import { externalIdPrefix } from '../../contract/common.js';
import type { LoginDiagnosis } from '../../contract/login-diagnosis/login-diagnosis.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import { findAccount } from '../../identities/accounts.js';
import { canonicalIdentity, type DirectoryType, type Identity, type IdentityType } from '../../identities/identity.js';
import { createUserReferences } from '../../identities/user-references.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { Problem, throwIfErrors } from '../../lib/problem.js';
import type { SmsAdmission } from '../../messages/sms-admission.js';
import type { Authenticator } from '../authenticators/authenticator.js';
import { identifiesUser } from '../authenticators/authenticator.js';
import type { ProviderHealth } from '../providers/provider-health.js';
import { type AccountCheckOptions, type AccountChecks, checkAccount } from './account-checks.js';
import { channelOf, checkCode } from './code-checks.js';
import type { Finding } from './finding.js';
import { readSubject, type Subject } from './subject.js';
import { type DiagnosedWay, diagnoseWay, type WayOptions } from './way.js';

/** A diagnosis before its texts are added. */
export type Diagnosis = Omit<LoginDiagnosis, 'message' | 'reasons' | 'ways'> & {
  readonly reasons: readonly Finding[];
  readonly ways: readonly DiagnosedWay[];
};

/** The point of view of a diagnosis. */
export interface DiagnosisView {
  /** Undefined: a device on which the user never logged in. */
  readonly deviceId: string | undefined;
  /** The client's address, to include its limits. */
  readonly address: string | undefined;
}

/**
 * Says for each authenticator what a login would answer now, and why. It only reads: it takes no guess, counts no
 * request and writes no row.
 */
export interface LoginDiagnoses {
  /** @throws Problem `not_found` */
  ofUser(userId: string, view: DiagnosisView): Promise<Diagnosis>;
  /**
   * @param authenticator diagnose only this authenticator, even if it is not configured
   * @throws Problem `validation_failed` for an identity that no login accepts, and for an external id that nobody has
   */
  ofIdentity(
    identity: { readonly type: DirectoryType; readonly value: string },
    view: DiagnosisView & { readonly authenticator: string | undefined },
  ): Promise<Diagnosis>;
}

export interface LoginDiagnosesOptions extends AccountCheckOptions, WayOptions {
  readonly keys: SecretKeys;
  readonly authenticators: readonly Authenticator[];
  readonly testCodes: TestCodes;
  readonly smsAdmission: Pick<SmsAdmission, 'predict'>;
  readonly defaultRegion: string | undefined;
  readonly providerHealth: Pick<ProviderHealth, 'read'>;
}

type AnyAuthenticator = Parameters<typeof diagnoseWay>[1];

/** Built-in authenticators that need a provider. */
const providerAuthenticators = ['sms', 'email'];

/** Creates the diagnosis for the configured authenticators. */
export function createLoginDiagnoses(options: LoginDiagnosesOptions): LoginDiagnoses {
  const { database, keys, secondFactors, defaultRegion, providerHealth } = options;
  const references = createUserReferences(database);
  const configured = new Map<string, AnyAuthenticator>(options.authenticators.map((each) => [each.name, each]));
  const authenticatorOf = (name: string) => configured.get(name) ?? { name, isMissing: true as const };
  const all = [
    ...configured.values(),
    ...providerAuthenticators.filter((name) => !configured.has(name)).map(authenticatorOf),
  ];

  async function diagnose(
    subject: Subject,
    view: DiagnosisView,
    login: { readonly identity: Identity | undefined; readonly authenticators: readonly AnyAuthenticator[] },
  ): Promise<Diagnosis> {
    const { deviceId, address } = view;
    const account = await checkAccount(options, subject, { identity: login.identity, address });
    const histories = await providerHealth.read();
    const ways: DiagnosedWay[] = [];
    for (const authenticator of login.authenticators) {
      const identity = identityFor(authenticator, login.identity ?? usualIdentity(subject, authenticator.name));
      const code = await checkCode(options, subject, { authenticator: authenticator.name, identity, address });
      const history = histories.get(authenticator.name);
      ways.push(await diagnoseWay(options, authenticator, { subject, identity, account, code, history }));
    }
    const { user } = subject;
    return {
      user_id: user === undefined ? null : subject.userId,
      identity: login.identity === undefined ? null : publicIdentity(login.identity),
      device: { id: deviceId ?? null, known: subject.knownDevice !== undefined },
      address: address ?? null,
      checked_at: subject.now,
      ...summaryOf(account, ways),
      second_factor:
        user === undefined
          ? null
          : {
              policy: secondFactors.policyOf(user.account),
              required: secondFactors.isRequired(user.account),
              types: [...(user.account.hasTotp ? ['totp'] : []), ...(user.account.hasPasskey ? ['passkey'] : [])],
            },
      ways,
    };
  }

  /** The identity with which the user would usually log in. */
  function usualIdentity({ user }: Subject, authenticator: string): Identity | undefined {
    if (user === undefined) return undefined;
    const { username, email, phone } = user.account;
    const userIdentities = { username, email, phone };
    const first = { sms: 'phone', email: 'email' } as const;
    const channel = channelOf(authenticator);
    const order: readonly IdentityType[] = ['username', 'email', 'phone'];
    const types = channel === undefined ? order : [first[channel], ...order];
    const type = types.find((each) => userIdentities[each] !== undefined);
    return type && canonicalIdentity(type, userIdentities[type] ?? '', defaultRegion);
  }

  return {
    async ofUser(userId, view) {
      const subject = await readSubject(database.user(userId), userId, view.deviceId);
      if (subject.user === undefined) throw new Problem('not_found');
      return diagnose(subject, view, { identity: undefined, authenticators: all });
    },
    async ofIdentity({ type, value }, { authenticator, ...view }) {
      const authenticators = authenticator === undefined ? all : [authenticatorOf(authenticator)];
      if (type === 'external_id') {
        const userId = await references.find(`${externalIdPrefix}${value}`);
        if (userId === undefined) throw new Problem('validation_failed', { errors: [unknownOwner] });
        const subject = await readSubject(database.user(userId), userId, view.deviceId);
        return diagnose(subject, view, { identity: undefined, authenticators });
      }
      const identity = canonicalIdentity(type, value, defaultRegion);
      if (identity === undefined) {
        throwIfErrors([{ field: 'identity.value', code: 'invalid_identity', params: { type } }]);
        throw new Error('unreachable: the error was thrown above');
      }
      const { userId } = await findAccount(database, keys, identity);
      const subject = await readSubject(database.user(userId), userId, view.deviceId);
      return diagnose(subject, view, { identity, authenticators });
    },
  };
}

const unknownOwner = { field: 'identity.value', code: 'unknown_user' } as const;

const publicIdentity = ({ type, canonical }: Identity) => ({ type, value: canonical });

function identityFor(authenticator: AnyAuthenticator, identity: Identity | undefined): Identity | undefined {
  return 'isMissing' in authenticator || !identifiesUser(authenticator) ? identity : undefined;
}

function summaryOf(
  account: AccountChecks,
  ways: readonly DiagnosedWay[],
): Pick<Diagnosis, 'verdict' | 'since' | 'until' | 'reasons'> {
  const { noActiveUser: absent, guessLock, operatorLock, notes } = account;
  const checks = [account.address(1), account.account(1), guessLock, operatorLock];
  const blockers = [...(absent === undefined ? [] : [absent]), ...checks.flatMap((check) => check?.finding ?? [])];
  const reasons = [...blockers, ...notes];
  const verdicts = ways.map(({ verdict }) => verdict);
  if (verdicts.includes('yes')) return { verdict: 'yes', since: null, until: null, reasons };
  if (verdicts.includes('maybe')) return { verdict: 'maybe', since: null, until: null, reasons };
  const until = ways.flatMap((way) => way.until ?? []).toSorted()[0] ?? null;
  const since = blockers.flatMap((finding) => finding.since ?? []).toSorted()[0] ?? null;
  return { verdict: 'no', since, until, reasons };
}
