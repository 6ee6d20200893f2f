import type { IdTokens } from './authentication/authenticators/oidc.js';
import type { SecondFactors } from './authentication/factors/second-factor.js';
import type { GuessBudget } from './authentication/guess-budget.js';
import type { Notices } from './authentication/messages/notices.js';
import type { RequestLimits } from './authentication/request-limits.js';
import type { PasswordHasher } from './authentication/secrets/passwords.js';
import type { Pins } from './authentication/secrets/pins.js';
import { createOwnAccount } from './authentication/self-service/account.js';
import { createCodeSending } from './authentication/self-service/code-sending.js';
import { createOwnAddresses } from './authentication/self-service/own-addresses.js';
import { createOwnExternalIdentities } from './authentication/self-service/own-external-identities.js';
import { createPinRecoveries } from './authentication/self-service/pin-recoveries.js';
import { codeProof, passwordProof, pinProof } from './authentication/self-service/proof-methods.js';
import { createProofs, type ProofMethod } from './authentication/self-service/proofs.js';
import { createRecoveries } from './authentication/self-service/recoveries.js';
import { createRegistrations } from './authentication/self-service/registrations.js';
import { createSessionlessCodes } from './authentication/self-service/sessionless-codes.js';
import { createExports, type ExportSection, ownSections } from './authentication/users/export.js';
import type { Users } from './authentication/users/users.js';
import type { UserRules } from './authentication/users/validation.js';
import type { Config } from './config.js';
import type { MessageChannel } from './contract/administration.js';
import type { Database } from './database/database.js';
import type { Services } from './http/routes.js';
import type { SecretKeys } from './lib/secret-keys.js';

/** What self-service is made of. */
export interface AccountParts {
  readonly config: Config;
  /** Those by which codes can be sent. */
  readonly channels: readonly MessageChannel[];
  /** To be called when a message was written and committed. */
  readonly written: () => void;
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly hasher: PasswordHasher;
  readonly pins: Pins;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly users: Users;
  readonly notices: Notices;
  readonly rules: UserRules;
  /** The OpenID providers that are configured. */
  readonly idTokens: readonly IdTokens[];
  /** Ways of proving who one is beside the password, codes and the PIN. */
  readonly moreProofs: readonly ProofMethod[];
  readonly secondFactors: Pick<SecondFactors, 'standBeside'>;
  /** What other modules store of users. */
  readonly moreSections: readonly ExportSection[];
}

/** Puts self-service together: what people do with their own accounts. */
export function createAccountServices(
  parts: AccountParts,
): Pick<
  Services,
  | ('proofs' | 'account' | 'addresses' | 'ownExternalIdentities' | 'exports')
  | ('recoveries' | 'pinRecoveries' | 'registrations')
> {
  const { config, channels, database, keys, hasher, pins, guesses, limits, users, rules, moreProofs } = parts;
  const codes = createCodeSending({ keys, limits, channels, written: parts.written });
  const methods = [passwordProof(hasher), codeProof(keys, codes), pinProof(pins), ...moreProofs];
  const hasSecondFactor = parts.secondFactors.standBeside;
  const { defaultRegion, passwordMin } = rules;
  // What is found before it is known who asks must cost nobody else: `users` looks into the list of breached passwords,
  // which may be another host's, once a proof or a code was right.
  const early = { defaultRegion, passwordMin };
  const sessionless = createSessionlessCodes({ database, keys, guesses, limits, codes, defaultRegion });
  const pinRecoveries = createPinRecoveries({
    ...{ database, keys, users, codes, limits, sessionless, notices: parts.notices },
    delay: config.PIN_RECOVERY_DELAY,
  });
  const proofs = createProofs({ database, guesses, limits, codes, methods, hasSecondFactor, nextPins: pinRecoveries });
  const withoutSession = { database, keys, users, limits, codes, sessionless, rules: early };
  return {
    proofs,
    pinRecoveries,
    account: createOwnAccount({
      ...{ database, users, proofs, pinRecoveries, rules: early },
      adminProofMaxAge: config.ADMIN_PROOF_MAX_AGE,
    }),
    addresses: createOwnAddresses({ database, keys, users, proofs, codes, guesses, limits, defaultRegion }),
    ownExternalIdentities: createOwnExternalIdentities({
      ...{ database, proofs, limits, notices: parts.notices, providers: parts.idTokens },
      waysIn: ['password_hash', ...channels.map((channel) => (channel === 'sms' ? 'phone' : 'email'))],
    }),
    recoveries: createRecoveries({ ...withoutSession, pinRecoveries }),
    registrations: createRegistrations({ ...withoutSession, isOn: config.REGISTRATION === 'on' }),
    exports: createExports(database, [...ownSections(database), ...parts.moreSections]),
  };
}
