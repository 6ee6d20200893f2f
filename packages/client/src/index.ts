/**
 * Logins, sessions and devices of Postern, for browsers, Node.js, React Native, Deno and workers. Nothing runs at import: no
 * request, no timer, no global is changed. Data of the service keeps its names (`user_id`); what this package adds is in camel case.
 *
 * @packageDocumentation
 */
export {
  type AccountClient,
  createAccount,
  type PendingAddress,
  type PendingChange,
  type PendingLink,
  type PendingTotp,
} from './account/account.js';
export { enableStepUp } from './account/enable-step-up.js';
export {
  type AccountOperation,
  type AccountOperations,
  type Proof,
  type ProofFor,
  type ProofType,
  passwordProof,
  pinProof,
  totpProof,
} from './account/proof.js';
export type { ProofChoice, ProofRequest, Prover, SentCode } from './account/proofs.js';
export type { ResumedProof } from './account/redirects.js';
export { resumeStepUp, type StepUpOptions, stepUp } from './account/step-up.js';
export type { FlowCode, FlowOptions, FlowStep } from './codes/flow.js';
export {
  createRecovery,
  type Recovery,
  type RecoveryDone,
  type RecoveryNewPassword,
  type RecoveryNewPin,
  type RecoveryStart,
  type RecoveryState,
} from './codes/recovery.js';
export {
  createRegistration,
  type NewAccount,
  type Registration,
  type RegistrationDetails,
  type RegistrationDone,
  type RegistrationStart,
  type RegistrationState,
} from './codes/registration.js';
export type { PendingCode } from './codes/sent-code.js';
export { createDevices, type Devices } from './devices.js';
export {
  type CancelledError,
  type Countdown,
  type EnrolmentRequiredError,
  type ForeignAnswerError,
  isPosternError,
  isProblem,
  type NetworkError,
  type PosternError,
  type Problem,
  type ProblemCode,
  type ProviderError,
  problemFrom,
  type SignedOutError,
  type UnsupportedError,
  type UsageError,
} from './errors.js';
export { mergeGuest } from './guests.js';
export {
  createInboxCopy,
  type InboxCopy,
  type InboxCopyOptions,
  indexedDbCopyStore,
  memoryCopyStore,
} from './inbox/copy.js';
export type { CopyChange, CopyStore } from './inbox/copy-store.js';
export type { NotificationConditions, NotificationFilter } from './inbox/filter.js';
export { createInbox } from './inbox/inbox.js';
export type { Notification } from './inbox/notification.js';
export { partOf } from './inbox/states/apply-states.js';
export { createItemStates } from './inbox/states/item-states.js';
export { createItemsView } from './inbox/states/items-view.js';
export type * from './inbox/states/types.js';
export type * from './inbox/types.js';
export { createInboxView } from './inbox/view.js';
export { type List, type ListQuery, type Page, type Sorting, toDate } from './lists.js';
export type { Identity, IdentityInput } from './login/identity.js';
export { type MailedCode, readLoginLink } from './login/link.js';
export { createLogin, type Login, type LoginOptions } from './login/login.js';
export type { RedirectOptions } from './login/redirects.js';
export type * from './login/states.js';
export { offeredLogins } from './offered-logins.js';
export type { Abortable, Fetch, MaybePromise, Unsubscribe } from './platform.js';
export { createPostern } from './postern/postern.js';
export { createPreferences } from './preferences/preferences.js';
export type * from './preferences/types.js';
export { enableWebPush, type PushMessage, parsePush, registerPush, type WebPushWorker } from './push.js';
export type * from './registered.js';
export type { Snapshot, SnapshotParts } from './snapshot.js';
export { indexedDbStorage } from './storage/indexed-db.js';
export { memoryStorage, type PosternStorage, webStorage } from './storage/storage.js';
export type { Store } from './store.js';
export { createTopics, type Topics } from './topics.js';
export type * from './types.js';
export type {
  Account,
  AccountDetails,
  ActivityEntry,
  CellChoice,
  ChangedStates,
  ChannelChoice,
  DeliveryTrace,
  Device,
  DeviceToken,
  ExternalIdentity,
  FieldError,
  Image,
  InboxCounts,
  InboxStates,
  LoginOptions as OfferedLogins,
  LogoutResult,
  Marker,
  MergedGuest,
  Mute,
  NotificationAction,
  NotificationExtra,
  OwnSupportLogin,
  OwnTopic,
  Passkey,
  PreferenceAddressState,
  PreferenceCategory,
  PreferenceCell,
  PreferenceCells,
  PreferenceChannels,
  Preferences,
  PreferenceTopic,
  RecoveryCodes,
  Session,
  TakenAction,
} from './wire.js';
export {
  cancelPinRecovery,
  type PendingRecovery,
  type PendingRegistration,
  startRecovery,
  startRegistration,
} from './without-session.js';
