import { recordEvent } from '../audit/events.js';
import { createEventStreams } from '../audit/stream/event-streams.js';
import { createPins } from '../credentials/pins/pins.js';
import { createTestCodes } from '../credentials/test-identities/test-codes.js';
import { createTestIdentities } from '../credentials/test-identities/test-identities.js';
import { createIdempotency } from '../database/idempotency.js';
import { compose, sql } from '../database/sql.js';
import { createDeviceLimit } from '../devices/device-limit.js';
import { createDevices } from '../devices/devices.js';
import { createIdempotent } from '../http/requests/idempotent.js';
import type { Services } from '../http/routes/routes.js';
import { Problem } from '../lib/problem.js';
import { createHumanCheck } from '../limits/human-check.js';
import { createPageApps } from '../login/pages/page-apps.js';
import { markPageDevice } from '../login/pages/page-logins.js';
import { createPages } from '../login/pages/pages.js';
import { createNewPreferences } from '../notifications/preferences/new-preferences.js';
import { createPreferences } from '../notifications/preferences/preferences.js';
import { createTimeZones } from '../notifications/preferences/time-zones.js';
import { createSimulator } from '../notifications/simulator.js';
import { createRevocationStreams, type RevocationTimes } from '../sessions/revocations/streams.js';
import { createStatistics } from '../statistics/statistics.js';
import type { Base } from './base/base.js';
import { createAccountServices } from './domains/account.js';
import { createAdmissionServices } from './domains/admission.js';
import {
  createConfiguredHealth,
  createConfiguredProviders,
  createConfiguredRedirects,
  publicUrlOf,
} from './domains/authenticators.js';
import { type BackupDomain, createBackupDomain } from './domains/backups.js';
import { createCategories } from './domains/categories.js';
import { createChannels } from './domains/channels.js';
import { createFactors } from './domains/factors.js';
import { createConfiguredGuessBudget, createConfiguredLimits } from './domains/limits.js';
import { createConfiguredSteps, createLoginServices } from './domains/login.js';
import { createMessaging, type Messaging } from './domains/messages.js';
import { createNotificationServices, type NotificationDomain } from './domains/notifications.js';
import { createPublicationDomain, type PublicationDomain } from './domains/publications.js';
import { createPushDomain, type PushDomain } from './domains/push.js';
import { createSessionServices } from './domains/sessions.js';
import type { ConsoleOutput } from './domains/sms.js';
import { createStepDomain, type StepDomain, stepTtl } from './domains/steps.js';
import { createSystemInformation } from './domains/system.js';
import { createConfiguredTopics } from './domains/topics.js';
import { createConfiguredUnsubscribe } from './domains/unsubscribe.js';
import { createUserServices } from './domains/users.js';
import { createWebhookDomain, type WebhookDomain } from './domains/webhooks.js';

/** The services that the routes call, and the parts that work in the background. */
export interface Domains {
  readonly services: Services;
  readonly messaging: Messaging;
  readonly push: PushDomain;
  readonly deliverySteps: StepDomain;
  readonly notifications: NotificationDomain;
  readonly publications: PublicationDomain;
  readonly webhooks: WebhookDomain;
  readonly backups: BackupDomain;
}

/** For tests, which use other times than a service. */
export interface ServicesOptions {
  readonly streamTimes?: Partial<RevocationTimes>;
  /** Milliseconds in which an uploaded image must be ready to be stored. */
  readonly imageTimeout?: number;
  /** Milliseconds between two reads of the blocked addresses, and of the categories. */
  readonly blockInterval?: number;
}

/** Creates the domains and the services that the routes call. */
export async function createServices(
  base: Base,
  consoleOutput: ConsoleOutput,
  options: ServicesOptions,
): Promise<Domains> {
  const parts = await createParts(base, consoleOutput, options);
  const { messaging, push, deliverySteps, notifications, publications, webhooks, backups } = parts;
  const services = servicesOf(base, parts);
  return { services, messaging, push, deliverySteps, notifications, publications, webhooks, backups };
}

type Parts = Awaited<ReturnType<typeof createParts>>;

/** Creates the parts of each domain from the ones before it. */
async function createParts(base: Base, consoleOutput: ConsoleOutput, options: ServicesOptions) {
  const { config, outbound, database, keys, hasher, policies, log, lifecycle } = base;
  const { streamTimes = {} } = options;
  const categories = await createCategories(base, options.blockInterval);
  const channels = await createChannels(base, options.blockInterval);
  const push = await createPushDomain(base, categories.known, channels);
  const limits = createConfiguredLimits(base);
  const messaging = await createMessaging(base, {
    hasPush: push.onPublished !== undefined,
    consoleOutput,
    onBadReport: () => void channels.checkMails(),
  });
  const unsubscribe = createConfiguredUnsubscribe(base);
  const deliverySteps = await createStepDomain(base, categories.known, {
    push,
    messaging,
    limits,
    consoleOutput,
    channels,
    unsubscribe,
  });
  const notifications = await createNotificationServices(
    base,
    {
      onPublished: push.onPublished,
      onSteps: deliverySteps.onPublished,
      onRead: push.onRead,
      limits,
      categories: categories.known,
    },
    options,
  );
  const topics = createConfiguredTopics(base, limits);
  const guesses = createConfiguredGuessBudget(base, messaging.notices);
  const pins = createPins({ hasher, keys });
  const factors = createFactors(base);
  const providers = createConfiguredProviders(config, outbound);
  const providerHealth = createConfiguredHealth(base);
  const redirects = createConfiguredRedirects(base, providers, providerHealth);
  const testCodes = createTestCodes({ database, keys });
  const deviceLimit = createDeviceLimit(database, {
    policies,
    notices: messaging.notices,
    onUnfinished: (error) => log.warn({ err: error }, 'devices beyond MAX_DEVICES could not be removed'),
  });
  const sessions = createSessionServices(base, { notices: messaging.notices, deviceLimit });
  const timeZones = createTimeZones();
  const newPreferences = createNewPreferences(database, { categories: categories.known, timeZones });
  const users = createUserServices(base, providers, messaging.notices, newPreferences);
  const publications = createPublicationDomain(base, {
    notifications: notifications.services.notifications,
    userReferences: users.userReferences,
  });
  const steps = createConfiguredSteps(base, { messaging, factors, testCodes, users: users.users });
  const humanCheck =
    config.HUMAN_CHECK === 'off' ? undefined : createHumanCheck({ database, keys, counts: limits.counts });
  const account = createAccountServices(base, {
    steps,
    humanCheck,
    messaging,
    pins,
    guesses,
    limits,
    rules: users.rules,
    providers,
    redirects,
    factors,
    testCodes,
    users: users.users,
    exportSections: [
      { name: 'suppressions', items: (userId) => messaging.suppressions.exportOf(userId) },
      ...notifications.exportSections,
    ],
  });
  const login = createLoginServices(base, {
    steps,
    humanCheck,
    messaging,
    pins,
    guesses,
    limits,
    factors,
    providers,
    redirects,
    providerHealth,
    account,
    testCodes,
    deviceLimit,
    users: users.users,
    dpopVerifier: sessions.dpopVerifier,
  });
  const eventStreams = lifecycle.add(createEventStreams({ database, log, times: streamTimes }), (part) => part.close());
  const revocationStreams = lifecycle.add(createRevocationStreams({ database, log, times: streamTimes }), (part) =>
    part.close(),
  );
  const webhooks = createWebhookDomain(base, { users: users.users, mails: messaging.operatorMails });
  const admission = await createAdmissionServices(base, options.blockInterval);
  const statistics = createStatistics(database);
  const backups = await createBackupDomain(base);
  return {
    unsubscribe,
    categories,
    timeZones,
    channels,
    push,
    limits,
    notifications,
    topics,
    publications,
    messaging,
    deliverySteps,
    factors,
    redirects,
    sessions,
    users,
    account,
    login,
    eventStreams,
    revocationStreams,
    webhooks,
    admission,
    statistics,
    backups,
  };
}

/** The services by the names that the routes use. */
function servicesOf(base: Base, parts: Parts): Services {
  const { config, database, keys, policies, pacer } = base;
  const { push, limits, notifications, messaging, factors, redirects, sessions, users, account, login } = parts;
  const { admission, categories, channels, webhooks, statistics, deliverySteps } = parts;
  const { proofs, pinRecoveries } = account;
  const { notices } = messaging;
  const named = { categories: categories.known, timeZones: parts.timeZones };
  const pageApps = createPageApps(database, config.REDIRECT_URIS ?? []);
  const ownFactors = factors.createSelfService({ proofs, users: users.users, notices, pinRecoveries });
  return {
    // Parts that all routes share
    database,
    pacer,
    idempotent: createIdempotent(database, createIdempotency(database, keys)),
    readiness: { check: () => checkReadiness(base) },
    counters: base.statistics.counters,
    meters: base.meters,
    admission: admission.admission,
    verifiers: sessions.verifiers,
    userReferences: users.userReferences,

    // Logins and sessions
    login: login.login,
    loginOptions: login.loginOptions,
    pinIsRequired: login.pinIsRequired,
    tokens: login.tokens,
    redirects,
    publicUrl: publicUrlOf(config),
    limits,
    sessions: sessions.sessions,
    dpopVerifier: sessions.dpopVerifier,
    takeOverProof: sessions.takeOverProof,
    accessTokens: sessions.accessTokens,
    audiences: sessions.audiences,
    supportLogins: sessions.supportLogins,
    devices: createDevices(database, limits),
    pageApps,
    pages: createPages({ database, redirects, apps: pageApps, policies }),
    markPageDevice: (token) => markPageDevice(database, token, policies),

    // Self-service
    proofs,
    account: account.account,
    logOutEverywhere: account.logOutEverywhere,
    guestMerge: account.guestMerge,
    addresses: account.addresses,
    ownExternalIdentities: account.ownExternalIdentities,
    ownTotp: ownFactors.ownTotp,
    ownPasskeys: ownFactors.ownPasskeys,
    recoveries: account.recoveries,
    passwordCodes: account.passwordCodes,
    pinRecoveries,
    registrations: account.registrations,
    exports: account.exports,
    operatorSetUp: factors.createSetUp({ users: users.users, rules: users.rules }),

    // Notifications
    notifications: notifications.services.notifications,
    sendInbox: notifications.services.sendInbox,
    streams: notifications.services.streams,
    markers: notifications.services.markers,
    states: notifications.services.states,
    images: notifications.services.images,
    categories,
    simulator: createSimulator({
      ...named,
      timeZone: config.DEFAULT_TIME_ZONE,
      ttl: stepTtl(config),
    }),
    channels,
    push: push.push,
    decideSteps: deliverySteps.decideSteps,
    pushTokens: push.tokens,
    outbox: messaging.outbox,
    receipts: messaging.receipts,
    preferences: createPreferences({
      ...named,
      isSuppressed: messaging.suppressions.has,
      timeZone: config.DEFAULT_TIME_ZONE,
      record: (tx, userId, origin, changes) =>
        recordEvent(tx, { type: 'preferences.changed', origin, userId, changes }),
    }),
    topics: parts.topics,
    publications: parts.publications.publications,
    unsubscribe: parts.unsubscribe,
    suppressions: messaging.suppressions,
    mailEvents: messaging.mailEvents,

    // Administration
    users: users.users,
    userImport: users.userImport,
    userBulk: users.userBulk,
    userDetails: users.userDetails,
    enrollmentLinks: users.enrollmentLinks,
    setUpLinks: users.setUpLinks,
    externalIdentities: users.externalIdentities,
    activity: users.activity,
    loginDiagnoses: login.loginDiagnoses,
    loginProviders: login.loginProviders,
    testIdentities: createTestIdentities({ database, keys, defaultRegion: config.DEFAULT_REGION }),
    apiKeys: sessions.apiKeys,
    blocks: admission.blocks,
    eventStreams: parts.eventStreams,
    revocationStreams: parts.revocationStreams,
    webhooks: webhooks.services.webhooks,
    webhookDeliveries: webhooks.services.webhookDeliveries,
    testWebhook: webhooks.services.testWebhook,
    statistics,
    system: createSystemInformation(base, statistics),
    backups: parts.backups.backups,
  };
}

async function checkReadiness({ lifecycle, database }: Base): Promise<void> {
  if (lifecycle.isClosing()) throw new Problem('shutting_down', { retryAfter: 1 });
  await database.query(compose(sql`select 1`));
}
