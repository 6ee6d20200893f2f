import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type {
  DiagnoseUserLoginData,
  ExternalIdentity,
  GetOutboxPageData,
  GetOutboxPageResponse,
  GetUserActivityPageData,
  GetUserActivityPageResponse,
  GetUserNotificationPageData,
  GetUserNotificationPageResponse,
  GetUserPreferencesData,
  GetUserSessionPageData,
  GetUserSessionPageResponse,
  GetUserSupportLoginPageData,
  GetUserSupportLoginPageResponse,
  GetUserTokenPageData,
  GetUserTokenPageResponse,
  ListUserExternalIdentitiesData,
  LoginDiagnosis,
  Preferences,
} from '../../api/schema.js';
import { userKey } from '../../api/users.js';
import { userDevicesOf } from '../../components/delivery/delivery.js';

/** @param device undefined: a new device */
export const diagnosisQuery = (id: string, device: string | undefined) =>
  queryOptions({
    queryKey: [...userKey(id), 'diagnosis', device ?? 'new'],
    queryFn: ({ signal }) =>
      request<DiagnoseUserLoginData, LoginDiagnosis>('GET', '/admin/v1/users/{id}/login-diagnosis', {
        path: { id },
        query: device === undefined ? {} : { device_id: device },
        signal,
      }),
    refetchInterval: 30_000,
  });

/** The accounts at OpenID providers with which the user can log in. */
export const accountsQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'accounts'],
    queryFn: ({ signal }) =>
      request<ListUserExternalIdentitiesData, ExternalIdentity[]>('GET', '/admin/v1/users/{id}/external-identities', {
        path: { id },
        signal,
      }),
  });

/** The names of the OpenID providers of this installation. */
export function useProviders(id: string): readonly string[] {
  const { data } = useQuery(diagnosisQuery(id, undefined));
  return (data?.ways ?? [])
    .filter(({ authenticator }) => /^(?:oidc|oauth):/.test(authenticator))
    .map(({ authenticator }) => authenticator.replace(/^[^:]*:/, ''));
}

export const devicesQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'devices'],
    queryFn: ({ signal }) => userDevicesOf(id, signal),
  });

export const tokensQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'tokens'],
    queryFn: ({ signal }) =>
      request<GetUserTokenPageData, GetUserTokenPageResponse>('GET', '/admin/v1/users/{id}/tokens/page', {
        path: { id },
        query: { limit: 100, filter: 'status:approved' },
        signal,
      }),
  });

export const sessionsQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'sessions'],
    queryFn: ({ signal }) =>
      request<GetUserSessionPageData, GetUserSessionPageResponse>('GET', '/admin/v1/users/{id}/sessions/page', {
        path: { id },
        query: { limit: 100 },
        signal,
      }),
  });

/** The logins of operators as the user. While one waits for the user, it is read again and again. */
export const supportLoginsQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'support-logins'],
    queryFn: ({ signal }) =>
      request<GetUserSupportLoginPageData, GetUserSupportLoginPageResponse>(
        'GET',
        '/admin/v1/users/{id}/support-logins/page',
        { path: { id }, query: { limit: 20 }, signal },
      ),
    refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => status === 'pending') ? 5000 : false),
  });

export const inboxQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'inbox'],
    queryFn: ({ signal }) =>
      request<GetUserNotificationPageData, GetUserNotificationPageResponse>(
        'GET',
        '/admin/v1/users/{id}/notifications/page',
        { path: { id }, query: { limit: 20 }, signal },
      ),
  });

export const preferencesQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'preferences'],
    queryFn: ({ signal }) =>
      request<GetUserPreferencesData, Preferences>('GET', '/admin/v1/users/{id}/preferences', {
        path: { id },
        signal,
      }),
  });

/** How the list of the user's notifications is read. */
export const inboxList = (id: string) => ({
  key: [...userKey(id), 'inbox', 'list'],
  read: (cursor: string | undefined, signal: AbortSignal) =>
    request<GetUserNotificationPageData, GetUserNotificationPageResponse>(
      'GET',
      '/admin/v1/users/{id}/notifications/page',
      { path: { id }, query: { limit: 50, cursor }, signal },
    ),
});

export const messagesQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'messages'],
    queryFn: ({ signal }) =>
      request<GetOutboxPageData, GetOutboxPageResponse>('GET', '/admin/v1/outbox/page', {
        query: { filter: `user_id:${id}`, limit: 20 },
        signal,
      }),
  });

/** The types of events that the filter of the activity offers. */
export const kinds = {
  logins: 'login.approved;login.rejected;login.refused_locked;account.locked_by_guesses',
  changes:
    'user.changed;user.password_changed;user.pin_changed;user.locked;user.unlocked;user.deactivated;user.reactivated;device.removed;totp.enrolled;totp.removed;passkey.enrolled;passkey.removed;second_factors.removed',
  messages: 'message.sent;message.failed;message.expired;message.undelivered',
} as const satisfies Record<string, string>;
export type Kind = keyof typeof kinds;

/** How the list of what happened to the user is read. */
export const activityList = (id: string, kind: Kind | undefined) => ({
  key: [...userKey(id), 'activity', kind ?? 'all'],
  read: (cursor: string | undefined, signal: AbortSignal) =>
    request<GetUserActivityPageData, GetUserActivityPageResponse>('GET', '/admin/v1/users/{id}/activity/page', {
      path: { id },
      query: { limit: 50, filter: kind && `type:in:${kinds[kind]}`, cursor },
      signal,
    }),
});

/** Reads everything about the user again, after a change. */
export function refresh(client: QueryClient, id: string): Promise<void> {
  return client.invalidateQueries({ queryKey: userKey(id) });
}
