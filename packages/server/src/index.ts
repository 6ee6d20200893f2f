/**
 * Postern in the backend of an app: verify sessions, publish notifications, administer. For Node.js, Deno, Bun and edge runtimes
 * (such as Cloudflare Workers). An import of this package runs nothing.
 *
 * @packageDocumentation
 */
export {
  isPosternError,
  isProblem,
  type List,
  type ListQuery,
  type Page,
  type PosternError,
  type Problem,
  type ProblemCode,
  type Snapshot,
  toDate,
} from '@postern/client';
export type { LocalSession } from './access-tokens/local.js';
export type { Administration } from './admin/administration.js';
export type { ImportOptions, ImportResult, ImportUsers } from './admin/import-users.js';
export type { Lock, NewUser, Users } from './admin/users.js';
export type { WebhookEventPattern, WebhookReplayRange, Webhooks } from './admin/webhooks.js';
export type { CookieOptions } from './browser/cookies.js';
export { expressHandler, fastifyHandler } from './browser/node.js';
export type { HandlerContext } from './browser/page-request.js';
export {
  type BrowserSession,
  type BrowserSessionOptions,
  createBrowserSession,
  type PageSession,
  type RouteHandler,
} from './browser/session.js';
export type { PosternServerOptions } from './options.js';
export type { Source } from './publishing/chunks.js';
export type { OnceOptions } from './publishing/idempotency.js';
export { InterruptedError } from './publishing/interruption.js';
export type { PublishAll, PublishResult } from './publishing/publish-all.js';
export type { NewNotification, Publication, Publishing, Recipients } from './publishing/publishing.js';
export { createPosternServer, type PosternServer } from './server.js';
export { type Refusal, readOnlyRefusalOf, refusalOf } from './sessions/answers.js';
export {
  expressSession,
  fastifySession,
  findSession,
  honoSession,
  type SessionMiddlewareOptions,
  sessionOf,
  type Verifier,
  withSession,
} from './sessions/middleware.js';
export { type StepUpOptions, stepUpRefusalOf } from './sessions/step-up.js';
export type { HeadersLike, RequestLike } from './sessions/tokens.js';
export type { Verify, VerifyOptions } from './sessions/verify.js';
export type { WebhookEvent, WebhookEventType } from './webhooks/events.js';
export {
  createReplaySet,
  createWebhookVerifier,
  type ReplaySet,
  WebhookError,
  type WebhookErrorCode,
  type WebhookKey,
  type WebhookKeys,
  type WebhookMessage,
  type WebhookVerifier,
  type WebhookVerifierOptions,
} from './webhooks/verify.js';
export type {
  AccountExport,
  ActivityEntry,
  ApiKey,
  AuditEvent,
  DeliveryTrace,
  DryRun,
  ExternalIdentity,
  Image,
  IssuedApiKey,
  IssuedWebhook,
  LoginDiagnosis,
  LoginDiagnosisRequest,
  Marker,
  NewApiKey,
  NewWebhook,
  Notification,
  NotificationChange,
  OutboxMessage,
  Scope,
  Session,
  User,
  UserChange,
  UserDevice,
  UserSession,
  UserToImport,
  Webhook,
  WebhookDelivery,
  WebhookEventData,
  WebhookReplay,
  WebhookSecret,
  WebhookTest,
} from './wire.js';
