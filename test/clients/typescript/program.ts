// This file is compiled against the generated types, and never run. The compilation fails if the types lose or
// widen a member that it uses.
import type {
  Authentication,
  GetNotificationPageResponses,
  Image,
  NewNotification,
  NewSession,
  Notification,
  NotificationPage,
  Problem,
  Scope,
  Session,
  TokenRequest,
} from './generated/index.js';

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/** Compiles only where the two types are the same. */
export const proofs: readonly true[] = [
  true satisfies Same<Notification['image'], Image | null>,
  true satisfies Same<Notification['object_data_number'], number | null>,
  true satisfies Same<NotificationPage['page']['next_cursor'], string | null>,
  true satisfies Same<Authentication['status'], 'created' | 'pending' | 'approved' | 'rejected'>,
  true satisfies Same<Session['expires_at'], string>,
  true satisfies Same<GetNotificationPageResponses[200], NotificationPage>,
];

export const login: TokenRequest = {
  identity: { type: 'username', value: 'ada' },
  authenticator: 'password',
  secret: 'correct horse battery',
  device: { make: 'Apple', screen_width: 1179, screen_height: '2556' },
};

export const scope: Scope = 'notifications:write';

export function describeProblem({ status, detail, errors }: Problem): string {
  return `${status} ${detail} ${errors.map(({ field, code }) => `${field ?? ''} ${code}`).join()}`;
}

export function bearer({ token }: NewSession): string {
  return `Bearer ${token}`;
}

export function thumbnail(notification: Notification): string | undefined {
  return notification.image?.thumbnail_url;
}

// @ts-expect-error A notification needs a description.
export const incomplete: NewNotification = {
  user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
  notification_type: 'pool',
};
