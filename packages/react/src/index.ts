'use client';

/**
 * React hooks for logins, sessions, devices and the inbox of Postern. They also work on a server: there, and until the hydration
 * is complete, they return the data of the snapshot, or `pending`.
 *
 * @packageDocumentation
 */
export { type AccountActions, useAccount } from './account.js';
export { PosternProvider, type PosternProviderProps, usePostern } from './context.js';
export { type UseInbox, type UseInboxQuery, useInbox, useUnreadCount } from './inbox.js';
export { type UseItems, useInboxCounts, useItems } from './items.js';
export { type DeviceActions, useActivity, useDevices, usePasskeys } from './lists.js';
export {
  type UseLogin,
  type UseRecovery,
  type UseRegistration,
  useCountdown,
  useLogin,
  useRecovery,
  useRegistration,
} from './login.js';
export { type UsePreferences, usePreferences } from './preferences.js';
export { type ProofDialogProps, ProofProvider, type ProofProviderProps, useProver } from './proofs.js';
export type { MaySuspend, Query, ReadyQuery, Suspending } from './query.js';
export { type SessionState, type SettledSessionState, useSession } from './session.js';
export { type TopicActions, type UseTopicsQuery, useTopics } from './topics.js';
