import type { Pins } from '../../credentials/pins/pins.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { DeviceLimit } from '../../devices/device-limit.js';
import type { Services } from '../../http/routes/routes.js';
import type { GuessBudget } from '../../limits/guess-budget.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import type { IdTokens } from '../../login/authenticators/oidc.js';
import { createLoginDiagnoses } from '../../login/diagnosis/diagnosis.js';
import { createLogin } from '../../login/login.js';
import { loginOptions } from '../../login/login-options.js';
import { createTokens } from '../../login/tokens.js';
import type { DpopVerifier } from '../../sessions/dpop/dpop-verifier.js';
import type { Base } from '../base/base.js';
import { loginPolicies } from '../base/login-policies.js';
import { createAuthenticators } from './authenticators.js';
import type { Factors } from './factors.js';
import type { Messaging } from './messages.js';

/** The login flow and its tokens. */
export function createLoginServices(
  { config, database, keys, hasher, outbound, log, statistics: { counters } }: Base,
  parts: {
    readonly messaging: Messaging;
    readonly pins: Pins;
    readonly guesses: GuessBudget;
    readonly limits: RequestLimits;
    readonly factors: Factors;
    readonly idTokens: readonly IdTokens[];
    readonly account: Pick<Services, 'pinRecoveries'>;
    readonly dpopVerifier: DpopVerifier;
    readonly testCodes: TestCodes;
    readonly deviceLimit: DeviceLimit;
  },
): Pick<Services, 'login' | 'loginDiagnoses' | 'loginOptions' | 'pinIsRequired' | 'tokens'> {
  const { messaging, pins, guesses, limits, factors, idTokens, account, testCodes, deviceLimit } = parts;
  const authenticators = createAuthenticators({
    config,
    database,
    keys,
    hasher,
    outbound,
    idTokens,
    testCodes,
    channels: messaging.channels,
    passkey: factors.authenticator,
  });
  const rules = {
    ...{ database, keys, pins, guesses, limits, authenticators },
    secondFactors: factors.secondFactors,
    pinPolicy: config.PIN_POLICY,
    defaultRegion: config.DEFAULT_REGION,
  };
  const login = createLogin({
    ...rules,
    counters,
    nextPins: account.pinRecoveries,
    enrolPin: config.PIN_ENROL === 'first_login',
    policies: loginPolicies(config),
    deviceLimit,
    noticeChannels: messaging.notices.channels,
    onMessageWritten: messaging.onMessageWritten,
    onUnfinished: (error) => log.warn({ err: error }, 'work after a login failed; the login stays approved'),
  });
  return {
    login,
    loginDiagnoses: createLoginDiagnoses({ ...rules, testCodes, smsAdmission: messaging.smsAdmission }),
    loginOptions: loginOptions({
      authenticators,
      channels: messaging.channels,
      pinPolicy: config.PIN_POLICY,
      passwordMin: config.PASSWORD_MIN,
      registrationIsOn: config.REGISTRATION === 'on',
    }),
    pinIsRequired: config.PIN_POLICY === 'required',
    tokens: createTokens(database, parts.dpopVerifier),
  };
}
