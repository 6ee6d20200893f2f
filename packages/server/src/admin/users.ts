import type { Abortable, List, ListQuery } from '@postern/client';
import { type Call, listOf } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import { type OnceOptions, onceHeader } from '../publishing/idempotency.js';
import type {
  AccountExport,
  ActivityEntry,
  ExternalIdentity,
  ExternalIdentityLink,
  LoginDiagnosis,
  LoginDiagnosisRequest,
  NewUser as NewUserFields,
  Notification,
  User,
  UserChange,
  UserDevice,
  UserSession,
} from '../wire.js';
import { createImport, type ImportUsers } from './import-users.js';

type AtLeastOneIdentity = { readonly username: string } | { readonly email: string } | { readonly phone: string };
type OnePassword = { readonly password_hash?: never } | { readonly password?: never };

/** A user to create: with at least one identity, and with a password or the hash of one. */
export type NewUser = NewUserFields & AtLeastOneIdentity & OnePassword;

/** A lock that ends at `until`, or a permanent one. */
export type Lock = { readonly reason?: string | undefined } & (
  | { readonly permanent: true; readonly until?: never }
  | { readonly until: string | Date; readonly permanent?: never }
);

/** Users, with an API key that has the scope `users:read` or `users:write`. */
export interface Users {
  /** Needs `idempotencyKey`, such as the id of a sign-up: a repeat with the same key creates nobody and returns the first user. */
  readonly create: (user: NewUser, options: OnceOptions) => Promise<User>;
  /** Null if there is no such user. */
  readonly get: (id: string, options?: Abortable) => Promise<User | null>;
  /** @param query `search` finds parts of names and identities. */
  readonly list: (query?: ListQuery & { readonly search?: string | undefined }) => List<User>;
  /** Changes only the members that are present. */
  readonly change: (id: string, change: UserChange, options?: Abortable) => Promise<User>;
  /** Erases the user with all data. */
  readonly delete: (id: string, options?: Abortable) => Promise<void>;
  readonly lock: (id: string, lock: Lock, options?: Abortable) => Promise<User>;
  readonly unlock: (id: string, options?: Abortable) => Promise<User>;
  /** Ends every login. @returns how many have ended */
  readonly logOut: (id: string, options?: Abortable) => Promise<number>;
  readonly devices: (id: string, query?: ListQuery) => List<UserDevice>;
  readonly removeDevice: (id: string, deviceId: string, options?: Abortable) => Promise<void>;
  readonly sessions: (id: string, query?: ListQuery) => List<UserSession>;
  readonly activity: (id: string, query?: ListQuery) => List<ActivityEntry>;
  readonly notifications: (id: string, query?: ListQuery) => List<Notification>;
  /** All stored data of the user. */
  readonly export: (id: string, options?: Abortable) => Promise<AccountExport>;
  readonly removeSecondFactors: (id: string, options?: Abortable) => Promise<User>;
  readonly linkIdentity: (id: string, identity: ExternalIdentityLink, options?: Abortable) => Promise<ExternalIdentity>;
  /** Creates any number of users from another system. The same source can be sent again until it is complete. */
  readonly import: ImportUsers;
  /** Whether a user can log in, and if not, why: by id, or by what the user types. */
  readonly diagnose: (who: string | LoginDiagnosisRequest, options?: Abortable) => Promise<LoginDiagnosis>;
}

export function createUsers(connection: Connection): Users {
  const path = '/admin/v1/users';
  const { call } = connection;
  const userPath = (id: string, suffix = '') => `${path}/${encodeURIComponent(id)}${suffix}`;
  const post = <T>(to: string, body: Call['body'], { signal }: Abortable = {}) =>
    call<T>({ method: 'POST', path: to, body, signal });
  const remove = <T>(at: string, { signal }: Abortable = {}) => call<T>({ method: 'DELETE', path: at, signal });

  return {
    create: async (user, options) =>
      call<User>({ method: 'POST', path, body: user, headers: onceHeader(options), signal: options.signal }),
    get: async (id, { signal } = {}) => connection.find<User>({ path: userPath(id), signal }),
    list: ({ search, ...query } = {}) => listOf(connection, path, query, () => ({ search })),
    change: async (id, change, { signal } = {}) =>
      call<User>({ method: 'PATCH', path: userPath(id), body: change, signal }),
    delete: async (id, options) => remove<void>(userPath(id), options),
    async lock(id, { until, ...lock }, options) {
      const end = until instanceof Date ? until.toISOString() : until;
      return post<User>(userPath(id, '/lock'), { ...lock, ...(end !== undefined && { until: end }) }, options);
    },
    unlock: async (id, options) => post<User>(userPath(id, '/unlock'), undefined, options),
    logOut: async (id, options) => (await post<{ ended: number }>(userPath(id, '/logout'), undefined, options)).ended,
    devices: (id, query = {}) => listOf(connection, userPath(id, '/devices'), query),
    removeDevice: async (id, deviceId, options) =>
      void (await remove<unknown>(userPath(id, `/devices/${encodeURIComponent(deviceId)}`), options)),
    sessions: (id, query = {}) => listOf(connection, userPath(id, '/sessions'), query),
    activity: (id, query = {}) => listOf(connection, userPath(id, '/activity'), query),
    notifications: (id, query = {}) => listOf(connection, userPath(id, '/notifications'), query),
    export: async (id, { signal } = {}) => call<AccountExport>({ path: userPath(id, '/export'), signal }),
    removeSecondFactors: async (id, options) => remove<User>(userPath(id, '/second-factors'), options),
    linkIdentity: async (id, identity, { signal } = {}) =>
      call<ExternalIdentity>({ method: 'PUT', path: userPath(id, '/external-identities'), body: identity, signal }),
    import: createImport(connection),
    diagnose: async (who, options = {}) =>
      typeof who === 'string'
        ? call<LoginDiagnosis>({ path: userPath(who, '/login-diagnosis'), signal: options.signal })
        : post<LoginDiagnosis>('/admin/v1/login-diagnosis', who, options),
  };
}
