/**
 * Logins, sessions and devices of Postern, for browsers, Node.js, React Native, Deno and workers. Nothing runs at import: no
 * request, no timer, no global is changed. Data of the service keeps its names (`user_id`); what this package adds is in camel case.
 *
 * @packageDocumentation
 */
export { createDevices, type Devices } from './devices.js';
export {
  type CancelledError,
  type Countdown,
  type ForeignAnswerError,
  isPosternError,
  isProblem,
  type NetworkError,
  type PosternError,
  type Problem,
  type ProblemCode,
  problemFrom,
  type SignedOutError,
  type UnsupportedError,
  type UsageError,
} from './errors.js';
export {
  type CopyChange,
  type CopyStore,
  createInboxCopy,
  type InboxCopy,
  type InboxCopyOptions,
  indexedDbCopyStore,
  memoryCopyStore,
} from './inbox/copy.js';
export { createInbox, type Inbox, type InboxOptions } from './inbox/inbox.js';
export type { Connection, InboxEvent, LiveQuery } from './inbox/live.js';
export { createInboxView, type InboxItem, type InboxSnapshot, type InboxView } from './inbox/view.js';
export { indexedDbStorage } from './indexed-db.js';
export type { List, ListQuery, Page } from './lists.js';
export type { Identity, IdentityInput } from './login/identity.js';
export { createLogin, type Login, type LoginOptions } from './login/login.js';
export type * from './login/states.js';
export type { Abortable, Fetch, MaybePromise, Unsubscribe } from './platform.js';
export { createPostern } from './postern.js';
export { memoryStorage, type PosternStorage, webStorage } from './storage.js';
export type { Store } from './store.js';
export type * from './types.js';
export type {
  Account,
  DeliveryTrace,
  Device,
  FieldError,
  Image,
  LoginOptions as OfferedLogins,
  Marker,
  Mute,
  Notification,
  Session,
} from './wire.js';
export {
  offeredLogins,
  type PendingCode,
  type PendingRecovery,
  type PendingRegistration,
  startRecovery,
  startRegistration,
} from './without-session.js';
