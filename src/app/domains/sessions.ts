import type { DeviceLimit } from '../../devices/device-limit.js';
import type { Services } from '../../http/routes/routes.js';
import { entryOf } from '../../login/providers/redirect-uris.js';
import type { Notices } from '../../messages/notices.js';
import { createAccessTokens } from '../../sessions/access-tokens/access-tokens.js';
import { createAudiences } from '../../sessions/access-tokens/audiences.js';
import { createApiKeys } from '../../sessions/api-keys.js';
import { createDpopVerifier } from '../../sessions/dpop/dpop-verifier.js';
import { createDpopNonces } from '../../sessions/dpop/nonces.js';
import { createTokenReports } from '../../sessions/dpop/token-reports.js';
import { createSnapshotVerifier } from '../../sessions/fast-path/snapshot-verifier.js';
import { createVerifyOperator, takeOverSessionProof } from '../../sessions/operators.js';
import { createSessions } from '../../sessions/sessions.js';
import { createSupportLogins } from '../../sessions/support-logins.js';
import { createPlainVerifier } from '../../sessions/verifier.js';
import type { Base } from '../base/base.js';

/** Sessions and API keys, and the checks of both for requests. */
export function createSessionServices(
  { config, database, keys, policies, statistics: { counters } }: Base,
  { notices, deviceLimit }: { readonly notices: Notices; readonly deviceLimit: DeviceLimit },
) {
  const report = createTokenReports(database, notices);
  const dpopVerifier = createDpopVerifier({
    database,
    report,
    nonces: createDpopNonces(keys),
    urls: [config.PUBLIC_URL ?? [], config.DPOP_ORIGINS ?? []].flat(),
  });
  const sessions = createSessions(database, {
    lifetime: config.SESSION_TTL,
    batching: config.DATABASE_BATCHING,
    counters,
    dpopVerifier,
    report,
    policies,
    deviceLimit,
  });
  const apiKeys = createApiKeys({
    database,
    ...(config.ADMIN_API_KEY && { environmentKey: config.ADMIN_API_KEY.reveal() }),
  });
  const snapshotVerifier = config.DATABASE_BATCHING ? createSnapshotVerifier(database) : undefined;
  const sessionVerifier = snapshotVerifier ?? createPlainVerifier(database);
  const verifiers = {
    verifySession: sessionVerifier.verify,
    verifyOperator: createVerifyOperator(database, config.ADMIN_PROOF_MAX_AGE),
    verifyApiKey: apiKeys.verify,
  };
  const takeOverProof: Services['takeOverProof'] = (token) => takeOverSessionProof(database, token);
  const clientIds = config.REDIRECT_URIS ?? [];
  const tokenOptions = { database, keys, issuer: config.PUBLIC_URL };
  const accessTokens = createAccessTokens({
    ...tokenOptions,
    appOf: (address) => entryOf(clientIds, address),
    confirmedAt: (session) => snapshotVerifier?.confirmedAt(session),
  });
  const audiences = createAudiences({ ...tokenOptions, clientIds });
  const supportLogins = createSupportLogins({ database, notices, needsConsent: config.SUPPORT_CONSENT === 'on' });
  return {
    sessions,
    dpopVerifier,
    apiKeys,
    verifiers,
    takeOverProof,
    accessTokens,
    audiences,
    supportLogins,
  } satisfies Partial<Services>;
}
