import type { Scope } from '../../contract/administration.js';
import type { Remedy } from '../../contract/login-diagnosis/login-diagnosis.js';

/** The user of a remedy. Changes of users with a role need the scope `admin`. */
export interface RemediedUser {
  readonly id: string;
  readonly hasRole: boolean;
}

const emptyRemedy = { method: null, path: null, scope: null, body: null, fields: [], setting: null };

function byRoute(
  user: RemediedUser,
  action: Remedy['action'],
  route: { readonly method: string; readonly path: string; readonly scope?: Scope },
  body: Pick<Remedy, 'body' | 'fields'> = { body: null, fields: [] },
): Remedy {
  const { method, path, scope = 'users:write' } = route;
  const neededScope = user.hasRole ? 'admin' : scope;
  return {
    ...emptyRemedy,
    action,
    by: 'operator',
    method,
    path: `/admin/v1/users/${user.id}${path}`,
    scope: neededScope,
    ...body,
  };
}

const change = (user: RemediedUser, action: Remedy['action'], body: Remedy['body'], fields: string[] = []) =>
  byRoute(user, action, { method: 'PATCH', path: '' }, { body, fields });

const unlockBy = (user: RemediedUser, action: Remedy['action']) =>
  byRoute(user, action, { method: 'POST', path: '/unlock' });

/** The remedies of the reasons, as routes with the ids of the user. */
export const remedies = {
  unlock: (user: RemediedUser) => unlockBy(user, 'unlock'),
  /** The same route as `unlock`, because an unlock also removes the failed guesses. */
  resetBudget: (user: RemediedUser) => unlockBy(user, 'reset_budget'),
  reactivate: (user: RemediedUser) => change(user, 'reactivate', { status: 'active' }),
  setPassword: (user: RemediedUser) => change(user, 'set_password', {}, ['password']),
  setPhone: (user: RemediedUser) => change(user, 'set_phone', {}, ['phone']),
  setEmail: (user: RemediedUser) => change(user, 'set_email', {}, ['email']),
  verifyPhone: (user: RemediedUser) => change(user, 'verify_phone', { phone_verified: true }),
  verifyEmail: (user: RemediedUser) => change(user, 'verify_email', { email_verified: true }),
  removePin: (user: RemediedUser) => change(user, 'remove_pin', { pin: null }),
  linkExternalIdentity: (user: RemediedUser, provider: string) =>
    byRoute(
      user,
      'link_external_identity',
      { method: 'PUT', path: '/external-identities' },
      { body: { provider }, fields: ['subject'] },
    ),
  removeSecondFactors: (user: RemediedUser) =>
    byRoute(user, 'remove_second_factors', { method: 'DELETE', path: '/second-factors' }),
  createEnrollmentLink: (user: RemediedUser) =>
    byRoute(user, 'create_enrollment_link', { method: 'POST', path: '/enrollment-links', scope: 'admin' }),
  /** @param identity the member of the new user that names the identity */
  createUser: (identity: Readonly<Record<string, string>>): Remedy => ({
    ...emptyRemedy,
    action: 'create_user',
    by: 'operator',
    method: 'POST',
    path: '/admin/v1/users',
    scope: 'users:write',
    body: identity,
  }),
  retryMessage: (id: string): Remedy => ({
    ...emptyRemedy,
    action: 'retry_message',
    by: 'operator',
    method: 'POST',
    path: `/admin/v1/outbox/${id}/retry`,
    scope: 'users:write',
  }),
  /** Only the user can create a passkey, in a session. */
  enrolPasskey: (): Remedy => ({
    ...emptyRemedy,
    action: 'enrol_passkey',
    by: 'user',
    method: 'POST',
    path: '/v1/account/passkeys',
    body: {},
    fields: ['proof', 'name'],
  }),
  /** Only the user chooses the PIN. */
  setPin: (): Remedy => ({
    ...emptyRemedy,
    action: 'set_pin',
    by: 'user',
    method: 'PUT',
    path: '/v1/account/pin',
    body: {},
    fields: ['proof', 'pin'],
  }),
  configure: (setting: string): Remedy => ({ ...emptyRemedy, action: 'configure', by: 'administrator', setting }),
};
