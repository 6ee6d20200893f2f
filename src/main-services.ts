import { createApiKeys } from './authentication/api-keys.js';
import type { Plugin } from './authentication/authenticators/plugin.js';
import { createDevices } from './authentication/devices/devices.js';
import { createActivity } from './authentication/events/activity.js';
import { createGuessBudget, type GuessBudget } from './authentication/guess-budget.js';
import { createExternalIdentities } from './authentication/identities/external-identities.js';
import { createLogin } from './authentication/login.js';
import { createOutbox } from './authentication/messages/outbox.js';
import { createVerifyOperator } from './authentication/operators.js';
import { createRequestLimits, type RequestLimits } from './authentication/request-limits.js';
import type { BreachedPasswords } from './authentication/secrets/breached-passwords.js';
import type { PasswordHasher } from './authentication/secrets/passwords.js';
import { createPins } from './authentication/secrets/pins.js';
import { createSessions } from './authentication/sessions.js';
import { createTokens } from './authentication/tokens.js';
import { createUserDetails } from './authentication/users/details.js';
import { createEnrollmentLinks } from './authentication/users/enrollment-links.js';
import { createUserImport } from './authentication/users/import.js';
import { createUsers } from './authentication/users/users.js';
import type { Config } from './config.js';
import { type Database, sql } from './database/database.js';
import { createIdempotency } from './database/idempotency.js';
import type { Signals } from './database/signals.js';
import { createImageDownload } from './delivery/image-download.js';
import { checkTargetUrl, type Outbound } from './delivery/outbound.js';
import { createIdempotent } from './http/idempotent.js';
import { createSendInbox } from './http/notification-list.js';
import type { Services } from './http/routes.js';
import type { Pacer } from './lib/pacing.js';
import { Problem } from './lib/problem.js';
import type { SecretKeys } from './lib/secret-keys.js';
import { createAccountServices } from './main-account.js';
import { createAuthenticators, createConfiguredIdTokens } from './main-authenticators.js';
import type { FactorParts } from './main-factors.js';
import type { MessageParts } from './main-messages.js';
import type { PushParts } from './main-push.js';
import { notificationSections } from './notifications/export.js';
import { createImages } from './notifications/images/images.js';
import { createRender } from './notifications/images/render.js';
import type { ImageStorage } from './notifications/images/storage.js';
import type { ImageUrls } from './notifications/images/url.js';
import { createMarkers } from './notifications/marker.js';
import { createNotifications } from './notifications/notifications.js';
import type { Retention } from './notifications/retention.js';
import type { Share } from './share.js';

/** What the services are made of. */
export interface ServiceParts {
  readonly config: Config;
  readonly share: Share;
  readonly database: Database;
  readonly hasher: PasswordHasher;
  readonly keys: SecretKeys;
  readonly signals: Signals;
  readonly pacer: Pacer;
  readonly outbound: Outbound;
  readonly storage: ImageStorage;
  readonly imageUrlsOf: ImageUrls;
  readonly retention: Retention;
  readonly messageParts: MessageParts;
  readonly pushParts: PushParts;
  readonly plugins: readonly Plugin[];
  readonly breached: BreachedPasswords | undefined;
  readonly factors: FactorParts;
  /** Where clients reach the service; asked when it listens. */
  readonly publicUrl: () => string;
  readonly isClosing: () => boolean;
}

/** Puts together what the routes call, all but the streams, which are started. */
export function createServices(parts: ServiceParts): Omit<Services, 'streams'> {
  const {
    config,
    share,
    database,
    hasher,
    keys,
    signals,
    outbound,
    storage,
    imageUrlsOf,
    messageParts,
    pushParts,
    factors,
  } = parts;
  const pins = createPins({ hasher, keys });
  const apiKeys = createApiKeys({
    database,
    ...(config.ADMIN_API_KEY === undefined ? {} : { environmentKey: config.ADMIN_API_KEY.reveal() }),
  });
  const sessions = createSessions(database, { lifetime: config.SESSION_TTL, batching: config.VERIFY_BATCHING });
  const { notices } = messageParts;
  const guesses = createGuesses(parts);
  const limits = createLimits(parts);
  const idTokens = createConfiguredIdTokens(config, outbound);
  const checkUrl = (url: string) =>
    checkTargetUrl(url, { allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS });
  const { DEFAULT_REGION: defaultRegion, PASSWORD_MIN: passwordMin } = config;
  const userOptions = {
    ...{ database, hasher, keys, defaultRegion, passwordMin, breached: parts.breached, notices },
    hashCostLimit: config.IMPORTED_HASH_COST_LIMIT,
  };
  const users = createUsers(userOptions);
  const account = createAccountServices({
    ...{
      config,
      channels: messageParts.channels,
      written: messageParts.written,
      database,
      keys,
      hasher,
      pins,
      guesses,
    },
    ...{ limits, users },
    ...{ notices, rules: userOptions, idTokens, moreProofs: factors.proofs, secondFactors: factors.secondFactors },
    moreSections: notificationSections(database, imageUrlsOf),
  });
  const login = createLogin({
    ...{ database, keys, pins, guesses, limits },
    authenticators: createAuthenticators({
      ...{ config, database, keys, hasher, outbound, idTokens },
      ...{ channels: messageParts.channels, plugins: parts.plugins, passkey: factors.authenticator },
    }),
    secondFactors: factors.secondFactors,
    nextPins: account.pinRecoveries,
    pinPolicy: config.PIN_POLICY,
    enrolPin: config.PIN_ENROL === 'first_login',
    tokenLifetime: config.AUTHENTICATION_TTL,
    tells: notices.channels,
    written: messageParts.written,
    defaultRegion: config.DEFAULT_REGION,
  });
  const notifications = createNotifications({
    ...{ database, checkUrl, imageUrlsOf, pacer: parts.pacer, connections: share.connections },
    types: config.NOTIFICATION_TYPES,
    batching: config.VERIFY_BATCHING,
    changed: signals.send,
    retainedFrom: parts.retention.retainedFrom,
    ...(pushParts.published && { published: pushParts.published }),
  });
  return {
    database,
    pacer: parts.pacer,
    apiKeys,
    users,
    // Half of what may be hashed at a time stays with logins.
    userImport: createUserImport({ ...userOptions, hashesAtATime: Math.ceil(share.hashes / 2) }),
    enrollmentLinks: createEnrollmentLinks(parts.publicUrl),
    userDetails: createUserDetails(database),
    externalIdentities: createExternalIdentities(database, idTokens, notices),
    activity: createActivity(database),
    outbox: createOutbox({ database, keys, showsCodesOf: messageParts.showsCodesOf }),
    verifiers: {
      verifySession: sessions.verify,
      verifyOperator: createVerifyOperator(database, config.ADMIN_PROOF_MAX_AGE),
      verifyApiKey: apiKeys.verify,
    },
    readiness: {
      async check() {
        if (parts.isClosing()) throw new Problem('shutting_down', { retryAfter: 1 });
        await database.query(sql('select 1'));
      },
    },
    idempotent: createIdempotent(database, createIdempotency(database, keys)),
    login,
    pinIsRequired: config.PIN_POLICY === 'required',
    sessions,
    devices: createDevices(database),
    tokens: createTokens(database),
    notifications,
    sendInbox: createSendInbox(notifications),
    images: createImages({
      ...{ database, storage, render: createRender(), urls: imageUrlsOf },
      download: createImageDownload(outbound, checkUrl),
    }),
    markers: createMarkers(database, signals.send),
    push: pushParts.push,
    pushTokens: pushParts.tokens,
    ...account,
    ...factors.own({ proofs: account.proofs, users, notices, pinRecoveries: account.pinRecoveries }),
  };
}

function createGuesses({ config, database, messageParts }: ServiceParts): GuessBudget {
  const lock = { lock: config.GUESS_LOCK, lockMax: config.GUESS_LOCK_MAX };
  const bounds = { limit: config.GUESS_LIMIT, permanentLimit: config.GUESS_LIMIT_PERMANENT, ...lock };
  return createGuessBudget(database, bounds, messageParts.notices);
}

function createLimits({ config, database, keys }: ServiceParts): RequestLimits {
  return createRequestLimits({
    database,
    keys,
    loginsPerAddress: config.LOGIN_LIMIT_PER_ADDRESS,
    messagesPerAddress: config.SMS_LIMIT_PER_ADDRESS,
    messagesPerPrefix: config.SMS_LIMIT_PER_PREFIX,
    messagesInTotal: config.SMS_LIMIT_TOTAL,
  });
}
