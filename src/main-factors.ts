import type { SelfNaming } from './authentication/authenticators/authenticator.js';
import { passkeyAuthenticator } from './authentication/authenticators/passkey.js';
import { passkeyProof, totpProof } from './authentication/factors/factor-proofs.js';
import { createRelyingParty } from './authentication/factors/relying-party.js';
import { createSecondFactors, type SecondFactors } from './authentication/factors/second-factor.js';
import type { Notices } from './authentication/messages/notices.js';
import { createOwnPasskeys } from './authentication/self-service/own-passkeys.js';
import { createOwnTotp } from './authentication/self-service/own-totp.js';
import type { PinRecoveries } from './authentication/self-service/pin-recoveries.js';
import type { ProofMethod, Proofs } from './authentication/self-service/proofs.js';
import type { Users } from './authentication/users/users.js';
import type { Config } from './config.js';
import type { Database } from './database/database.js';
import type { Services } from './http/routes.js';
import type { SecretKeys } from './lib/secret-keys.js';

/** Second factors and passkeys, put together. */
export interface FactorParts {
  readonly authenticator: SelfNaming;
  readonly secondFactors: SecondFactors;
  readonly proofs: readonly ProofMethod[];
  /** What users do with their own factors; it needs the proofs, which need the methods above. */
  own(parts: {
    readonly proofs: Proofs;
    readonly users: Users;
    readonly notices: Notices;
    readonly pinRecoveries: PinRecoveries;
  }): Pick<Services, 'ownTotp' | 'ownPasskeys'>;
}

export function createFactorParts(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly keys: SecretKeys;
  /** Where the service listens; asked when it does. */
  readonly ownUrl: () => string;
}): FactorParts {
  const { config, database, keys, ownUrl } = parts;
  const issuer = config.APP_NAME;
  const relyingParty = createRelyingParty({
    id: config.PASSKEY_RP_ID ?? (config.PUBLIC_URL === undefined ? 'localhost' : new URL(config.PUBLIC_URL).hostname),
    name: issuer,
    origins: () => config.PASSKEY_ORIGINS ?? [defaultOrigin(config, ownUrl())],
    userVerification: config.PASSKEY_USER_VERIFICATION,
  });
  const policy = config.SECOND_FACTOR;
  const policyByRole = config.SECOND_FACTOR_BY_ROLE ?? {};
  return {
    authenticator: passkeyAuthenticator({ database, relyingParty }),
    secondFactors: createSecondFactors({ database, keys, relyingParty, policy, policyByRole }),
    proofs: [totpProof({ database, keys }), passkeyProof({ database, relyingParty })],
    own: ({ proofs, users, notices, pinRecoveries }) => ({
      ownTotp: createOwnTotp({ database, keys, proofs, users, notices, pinRecoveries, issuer }),
      ownPasskeys: createOwnPasskeys({ database, relyingParty, proofs, users, notices, pinRecoveries }),
    }),
  };
}

/** Browsers let pages use passkeys on https, and on localhost by its name. */
function defaultOrigin({ PUBLIC_URL }: Config, ownUrl: string): string {
  return PUBLIC_URL === undefined ? `http://localhost:${new URL(ownUrl).port}` : new URL(PUBLIC_URL).origin;
}
