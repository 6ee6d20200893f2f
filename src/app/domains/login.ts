import type { Pins } from '../../credentials/pins/pins.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { DeviceLimit } from '../../devices/device-limit.js';
import type { Services } from '../../http/routes/routes.js';
import type { GuessBudget } from '../../limits/guess-budget.js';
import type { HumanCheck } from '../../limits/human-check.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import { codeAuthenticators } from '../../login/authenticators/code.js';
import { pageAuthenticator } from '../../login/authenticators/page.js';
import { createCodeMessages } from '../../login/code-messages.js';
import { createSignUpByCode } from '../../login/code-sign-up.js';
import { createLoginDiagnoses } from '../../login/diagnosis/diagnosis.js';
import { createGuests } from '../../login/guests.js';
import { createLogin } from '../../login/login.js';
import { loginOptions } from '../../login/login-options.js';
import { createLoginSteps, type LoginSteps } from '../../login/login-steps.js';
import { createLoginProviders } from '../../login/providers/login-providers.js';
import type { IdentityProvider } from '../../login/providers/provider.js';
import type { ProviderHealth } from '../../login/providers/provider-health.js';
import type { Redirects } from '../../login/providers/redirects.js';
import { createTokens } from '../../login/tokens.js';
import type { DpopVerifier } from '../../sessions/dpop/dpop-verifier.js';
import type { Users } from '../../users/users.js';
import type { Base } from '../base/base.js';
import { createAuthenticators, hasRedirectUris, isOpenLogin, publicUrlOf } from './authenticators.js';
import type { Factors } from './factors.js';
import type { Messaging } from './messages.js';

/** What a login needs after its first secret. */
export function createConfiguredSteps(
  { config, database, keys, hasher }: Base,
  parts: {
    readonly messaging: Messaging;
    readonly factors: Factors;
    readonly testCodes: TestCodes;
    readonly users: Users;
  },
): LoginSteps {
  const { messaging, factors, testCodes, users } = parts;
  return createLoginSteps({
    database,
    keys,
    hasher,
    users,
    notices: messaging.notices,
    secondFactors: factors.secondFactors,
    relyingParty: factors.relyingParty,
    codes: codeAuthenticators({ keys, testCodes }).filter(({ name }) => messaging.channels.includes(name)),
    issuer: config.APP_NAME,
  });
}

interface LoginParts {
  readonly messaging: Messaging;
  readonly pins: Pins;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly factors: Factors;
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Redirects;
  readonly providerHealth: ProviderHealth;
  readonly account: Pick<Services, 'pinRecoveries'>;
  readonly dpopVerifier: DpopVerifier;
  readonly testCodes: TestCodes;
  readonly deviceLimit: DeviceLimit;
  readonly users: Users;
  readonly steps: LoginSteps;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
}

/** The login flow and its tokens. */
export function createLoginServices(
  { config, database, keys, hasher, policies, outbound, log, statistics: { counters } }: Base,
  parts: LoginParts,
): Pick<Services, 'login' | 'loginDiagnoses' | 'loginOptions' | 'loginProviders' | 'pinIsRequired' | 'tokens'> {
  const { messaging, pins, guesses, limits, factors, providers, redirects, account, testCodes, deviceLimit } = parts;
  const { authenticators, signUp } = createAuthenticators({
    redirects,
    guesses,
    users: parts.users,
    notices: messaging.notices,
    health: parts.providerHealth,
    humanCheck: parts.humanCheck,
    config,
    database,
    keys,
    hasher,
    outbound,
    providers,
    testCodes,
    channels: messaging.channels,
    passkey: factors.authenticator,
  });
  const linkPage = config.LOGIN_LINK === 'on' ? `${publicUrlOf(config)}/link` : undefined;
  const rules = {
    database,
    keys,
    pins,
    guesses,
    limits,
    authenticators,
    messages: createCodeMessages(keys, limits, linkPage),
    steps: parts.steps,
    pinPolicy: config.PIN_POLICY,
    defaultRegion: config.DEFAULT_REGION,
  };
  // The pages are no way to prove anything by themselves, so LOGIN_METHODS does not name them, and no page offers them.
  const page = config.PAGES === 'on' ? [pageAuthenticator({ database, redirects, policies })] : [];
  const login = createLogin({
    ...rules,
    authenticators: [...authenticators, ...page],
    counters,
    nextPins: account.pinRecoveries,
    enrolPin: config.PIN_ENROL === 'first_login',
    policies,
    deviceLimit,
    noticeChannels: messaging.notices.channels,
    linkAccount: signUp.link,
    registrationIsOn: config.REGISTRATION === 'on',
    loginLink: { isOn: linkPage !== undefined, redirectUris: config.REDIRECT_URIS ?? [] },
    humanCheck: parts.humanCheck,
    guests:
      config.GUESTS === 'on'
        ? createGuests({
            database,
            limits,
            users: parts.users,
            policies,
            humanCheck: parts.humanCheck,
          })
        : undefined,
    signUp: createSignUpByCode({ database, users: parts.users }),
    onMessageWritten: messaging.onMessageWritten,
    onUnfinished: (error) => log.warn({ err: error }, 'work after a login failed; the login stays approved'),
  });
  return {
    login,
    loginDiagnoses: createLoginDiagnoses({
      ...rules,
      secondFactors: factors.secondFactors,
      testCodes,
      smsAdmission: messaging.smsAdmission,
      providerHealth: parts.providerHealth,
    }),
    loginProviders: createLoginProviders({
      database,
      providers,
      redirects,
      health: parts.providerHealth,
      foresee: signUp.foresee,
      hasPublicUrl: config.PUBLIC_URL !== undefined,
      hasRedirectUris: hasRedirectUris(config),
      isOpenLogin: (name) => isOpenLogin(config, name),
    }),
    loginOptions: loginOptions({
      authenticators,
      providers,
      // Both need PUBLIC_URL.
      hasRedirectUris: hasRedirectUris(config),
      channels: messaging.channels,
      pinPolicy: config.PIN_POLICY,
      passwordMin: config.PASSWORD_MIN,
      registrationIsOn: config.REGISTRATION === 'on',
      guestsAreOn: config.GUESTS === 'on',
    }),
    pinIsRequired: config.PIN_POLICY === 'required',
    tokens: createTokens(database, parts.dpopVerifier),
  };
}
