import { createOwnAccount } from '../../account/account.js';
import { createCodeSender } from '../../account/code-sender.js';
import { createGuestMerge } from '../../account/guest-merge.js';
import { createLogOutEverywhere } from '../../account/logout-everywhere.js';
import { createOwnAddresses } from '../../account/own-addresses.js';
import { createOwnExternalIdentities } from '../../account/own-external-identities.js';
import { createPasswordCodes } from '../../account/password-codes.js';
import { createPinRecoveries } from '../../account/pin-recoveries.js';
import { codeProof, passwordProof, pinProof } from '../../account/proof-methods.js';
import { createProofs } from '../../account/proofs.js';
import { createLoginAsProof, createProvingProviders, providerProof } from '../../account/provider-proof.js';
import { createRecoveries } from '../../account/recoveries.js';
import { createRegistrations } from '../../account/registrations.js';
import { createSessionlessCodes } from '../../account/sessionless-codes.js';
import type { Pins } from '../../credentials/pins/pins.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { Services } from '../../http/routes/routes.js';
import type { GuessBudget } from '../../limits/guess-budget.js';
import type { HumanCheck } from '../../limits/human-check.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import type { LoginSteps } from '../../login/login-steps.js';
import type { IdentityProvider } from '../../login/providers/provider.js';
import type { Redirects } from '../../login/providers/redirects.js';
import { emptyInbox } from '../../notifications/inbox/empty.js';
import { moveInbox } from '../../notifications/publishing/move.js';
import { createExports, type ExportSection, userSections } from '../../users/export.js';
import type { Users } from '../../users/users.js';
import type { UserRules } from '../../users/validation.js';
import type { Base } from '../base/base.js';
import { hasRedirectUris, isOpenLogin } from './authenticators.js';
import type { Factors } from './factors.js';
import type { Messaging } from './messages.js';

interface AccountParts {
  readonly messaging: Messaging;
  readonly pins: Pins;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly users: Users;
  readonly rules: UserRules;
  /** The configured providers. */
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Redirects;
  readonly factors: Factors;
  readonly testCodes: TestCodes;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
  /** What a login needs after its first secret. */
  readonly steps: LoginSteps;
  /** The lists of other domains in the export of a user. */
  readonly exportSections: readonly ExportSection[];
}

/** Self-service: what users do with their own accounts. */
export function createAccountServices(
  { config, database, keys, hasher, policies, signals }: Base,
  parts: AccountParts,
) {
  const { messaging, pins, guesses, limits, users, factors } = parts;
  const { channels, notices } = messaging;
  const codes = createCodeSender({ keys, limits, channels, onQueued: messaging.onMessageWritten });
  const proving = {
    database,
    redirects: parts.redirects,
    providers: parts.providers.filter(({ authenticator }) => isOpenLogin(config, authenticator)),
    hasRedirectUris: hasRedirectUris(config),
  };
  const methods = [
    passwordProof(hasher),
    codeProof({ keys, codes, testCodes: parts.testCodes }),
    pinProof(pins),
    ...factors.proofMethods,
    providerProof(proving),
  ];
  const loginColumns = [
    ['password', 'password_hash'] as const,
    ['passkey', 'passkey'] as const,
    ...channels.map((channel) => [channel, channel === 'sms' ? 'phone' : 'email'] as const),
  ];
  const hasSecondFactor = factors.secondFactors.hasSecondFactor;
  const { defaultRegion, passwordMin, passwordWords } = parts.rules;
  // A client without a proof must not make Postern call another host. So the list of breached passwords is queried in
  // `users`, only after a proof or a code was right.
  const rules = { defaultRegion, passwordMin, passwordWords };
  const sessionless = createSessionlessCodes({ database, keys, guesses, limits, codes, defaultRegion });
  const pinRecoveries = createPinRecoveries({
    database,
    keys,
    users,
    codes,
    limits,
    sessionless,
    notices,
    delay: config.PIN_RECOVERY_DELAY,
  });
  const proofs = createProofs({
    database,
    guesses,
    limits,
    codes,
    methods,
    hasSecondFactor,
    nextPins: pinRecoveries,
    hasPassword: (user, password, origin) => hasher.verify(user.passwordHash, password, origin),
    provingProviders: createProvingProviders(proving),
    loginAsProof: createLoginAsProof(proving),
  });
  const sessionlessDeps = { database, keys, users, limits, codes, sessionless, rules, humanCheck: parts.humanCheck };
  return {
    proofs,
    pinRecoveries,
    account: createOwnAccount({
      database,
      users,
      proofs,
      limits,
      pinRecoveries,
      rules,
      adminProofMaxAge: config.ADMIN_PROOF_MAX_AGE,
    }),
    passwordCodes: createPasswordCodes({ database, users, codes, passwordMin }),
    logOutEverywhere: createLogOutEverywhere({ database, limits, notices }),
    guestMerge: createGuestMerge({ database, users, limits, moveInbox, onChanged: signals.send }),
    addresses: createOwnAddresses({
      database,
      keys,
      users,
      proofs,
      codes,
      guesses,
      limits,
      defaultRegion,
      humanCheck: parts.humanCheck,
    }),
    ownExternalIdentities: createOwnExternalIdentities({
      database,
      proofs,
      limits,
      notices,
      providers: parts.providers,
      redirects: parts.redirects,
      isOpenLogin: (name) => isOpenLogin(config, name),
      loginColumns: loginColumns.filter(([name]) => isOpenLogin(config, name)).map(([, column]) => column),
    }),
    recoveries: createRecoveries({ ...sessionlessDeps, pinRecoveries, emptyInbox }),
    registrations: createRegistrations({
      ...sessionlessDeps,
      isOn: config.REGISTRATION === 'on',
      policies,
      relyingParty: factors.relyingParty,
      steps: parts.steps,
    }),
    exports: createExports(database, [...userSections(database), ...parts.exportSections]),
  } satisfies Partial<Services>;
}
