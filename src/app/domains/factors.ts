import { passkeyProof, totpProof } from '../../account/factor-proofs.js';
import { createOperatorSetUp } from '../../account/operator-setup.js';
import { createOwnPasskeys } from '../../account/own-passkeys.js';
import { createOwnTotp } from '../../account/own-totp.js';
import type { PinRecoveries } from '../../account/pin-recoveries.js';
import type { ProofMethod, Proofs } from '../../account/proofs.js';
import type { Config } from '../../config/config.js';
import { createRelyingParty, type RelyingParty } from '../../credentials/factors/relying-party.js';
import { createSecondFactors, type SecondFactors } from '../../credentials/factors/second-factor.js';
import type { Services } from '../../http/routes/routes.js';
import type { UserIdentifying } from '../../login/authenticators/authenticator.js';
import { passkeyAuthenticator } from '../../login/authenticators/passkey.js';
import type { Notices } from '../../messages/notices.js';
import type { Users } from '../../users/users.js';
import type { UserRules } from '../../users/validation.js';
import type { Base } from '../base/base.js';

/** Second factors and passkeys. */
export interface Factors {
  /** Logins with a passkey. */
  readonly authenticator: UserIdentifying;
  readonly secondFactors: SecondFactors;
  readonly relyingParty: RelyingParty;
  readonly proofMethods: readonly ProofMethod[];
  /** Creates the self-service of factors. Call it after `Proofs` is created, which needs `proofMethods`. */
  createSelfService(parts: {
    readonly proofs: Proofs;
    readonly users: Users;
    readonly notices: Notices;
    readonly pinRecoveries: PinRecoveries;
  }): Pick<Services, 'ownTotp' | 'ownPasskeys'>;
  /** Creates the set-up of operators. */
  createSetUp(parts: { readonly users: Users; readonly rules: UserRules }): Services['operatorSetUp'];
}

/** Creates second factors and passkeys. */
export function createFactors({ config, database, keys, policies, listening }: Base): Factors {
  const issuer = config.APP_NAME;
  const relyingParty = createRelyingParty({
    id: config.PASSKEY_RP_ID ?? (config.PUBLIC_URL === undefined ? 'localhost' : new URL(config.PUBLIC_URL).hostname),
    name: issuer,
    origins: () => config.PASSKEY_ORIGINS ?? defaultOrigins(config, listening),
    userVerification: config.PASSKEY_USER_VERIFICATION,
  });
  const policy = config.SECOND_FACTOR;
  const policyByRole = config.SECOND_FACTOR_BY_ROLE ?? {};
  return {
    authenticator: passkeyAuthenticator({ database, relyingParty }),
    relyingParty,
    secondFactors: createSecondFactors({ database, keys, relyingParty, policy, policyByRole }),
    proofMethods: [totpProof({ database, keys }), passkeyProof({ database, relyingParty })],
    createSelfService: ({ proofs, users, notices, pinRecoveries }) => ({
      ownTotp: createOwnTotp({ database, keys, proofs, users, notices, pinRecoveries, issuer }),
      ownPasskeys: createOwnPasskeys({ database, relyingParty, proofs, users, notices, pinRecoveries }),
    }),
    createSetUp({ users, rules }) {
      const setUpDeps = { database, keys, relyingParty, users, rules, appName: issuer };
      return createOperatorSetUp({ ...setUpDeps, policies });
    },
  };
}

/** The origins where passkeys work. Browsers allow them on https, and on the host name localhost. */
function defaultOrigins({ PUBLIC_URL }: Config, { port, consolePort }: Base['listening']): string[] {
  if (PUBLIC_URL !== undefined) return [new URL(PUBLIC_URL).origin];
  return [port, ...(consolePort === undefined ? [] : [consolePort])].map(
    (localPort) => `http://localhost:${localPort}`,
  );
}
