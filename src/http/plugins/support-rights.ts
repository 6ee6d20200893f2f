import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../contract/errors/problems.js';
import type { Session } from '../../contract/session.js';
import { onlyReads } from '../requests/route.js';

/**
 * Who may send a request with a login.
 * - `read`: also an operator with a support login that only reads.
 * - `write`: also an operator with a support login that has `write`.
 * - `own`: also an operator, for the support login of the request only. So a support login can end itself.
 * - `user`: only the user.
 */
type SupportRight = 'read' | 'write' | 'own' | 'user';

/**
 * What a support login may do: each route that takes a session or an authentication token. The server does not start if one is
 * missing. Routes of the administration refuse every support login (`createVerifyOperator`),
 * and the other routes take no login.
 */
export const supportRights: Readonly<Record<string, SupportRight>> = {
  // Logins and sessions. Access tokens also depend on the audience, which their service checks.
  'POST /v1/sessions': 'read',
  'GET /v1/sessions/verify': 'read',
  'POST /v1/sessions/verify': 'read',
  'POST /v1/access-tokens': 'read',
  'DELETE /v1/tokens': 'read',
  'DELETE /v1/tokens/:id': 'own',

  // Devices. A push token would bring the messages of the user to another device.
  'GET /v1/devices': 'read',
  'GET /v1/devices/page': 'read',
  'GET /v1/devices/current': 'read',
  'GET /v1/devices/:id': 'read',
  'PUT /v1/devices/current': 'user',
  'DELETE /v1/devices/current': 'user',
  'PUT /v1/devices/:id': 'user',
  'DELETE /v1/devices/:id': 'user',
  'POST /v1/devices/tokens': 'user',

  // The account. The handler of PATCH refuses a new username.
  'GET /v1/account': 'read',
  'PATCH /v1/account': 'write',
  'DELETE /v1/account': 'user',
  'GET /v1/account/activity': 'read',
  'GET /v1/account/activity/page': 'read',
  'GET /v1/account/export': 'user',
  'GET /v1/account/apps': 'read',
  'DELETE /v1/account/apps/:id': 'user',
  'GET /v1/account/support-logins': 'read',
  'GET /v1/account/support-logins/page': 'read',
  'PUT /v1/account/support-logins/:id': 'user',
  'DELETE /v1/account/support-logins/:id': 'own',
  'POST /v1/account/logout-everywhere': 'user',
  'PUT /v1/account/guest': 'user',

  // Credentials, addresses and factors.
  'PUT /v1/account/password': 'user',
  'PUT /v1/account/pin': 'user',
  'DELETE /v1/account/pin': 'user',
  'DELETE /v1/account/pin-recovery': 'user',
  'POST /v1/account/email': 'user',
  'POST /v1/account/email/:id': 'user',
  'DELETE /v1/account/email': 'user',
  'POST /v1/account/phone': 'user',
  'POST /v1/account/phone/:id': 'user',
  'DELETE /v1/account/phone': 'user',
  'GET /v1/account/external-identities': 'read',
  'POST /v1/account/external-identities/:name': 'user',
  'POST /v1/account/external-identities/:name/:id': 'user',
  'DELETE /v1/account/external-identities/:name/:id': 'user',
  'POST /v1/account/proofs': 'user',
  'PUT /v1/account/session-proof': 'user',
  'POST /v1/account/role': 'user',
  'POST /v1/account/totp': 'user',
  'POST /v1/account/totp/:id': 'user',
  'DELETE /v1/account/totp': 'user',
  'POST /v1/account/recovery-codes': 'user',
  'GET /v1/account/passkeys': 'read',
  'POST /v1/account/passkeys': 'user',
  'POST /v1/account/passkeys/:id': 'user',
  'PATCH /v1/account/passkeys/:id': 'user',
  'DELETE /v1/account/passkeys/:id': 'user',

  // Notifications. A read-only support login sees the inbox as the user left it: it marks nothing as read or seen.
  'GET /v1/notifications': 'read',
  'GET /v1/notifications/page': 'read',
  'GET /v1/notifications/stream': 'read',
  'GET /v1/notifications/changes': 'read',
  'GET /v1/notifications/marker': 'read',
  'PUT /v1/notifications/marker': 'write',
  'GET /v1/notifications/counts': 'read',
  'PUT /v1/notifications/seen': 'write',
  'POST /v1/notifications/:id/actions/:key': 'write',
  'GET /v1/notifications/states': 'read',
  'PATCH /v1/notifications/states': 'write',
  'GET /v1/notifications/mutes': 'read',
  'POST /v1/notifications/mutes': 'write',
  'DELETE /v1/notifications/mutes/:id': 'write',
  'GET /v1/notifications/:id/deliveries': 'read',
  'GET /v1/preferences': 'read',
  'PATCH /v1/preferences': 'write',
  'GET /v1/topics': 'read',
  'GET /v1/topics/page': 'read',
  'PUT /v1/topics/:key/subscription': 'write',
  'DELETE /v1/topics/:key/subscription': 'write',
  'POST /v1/images': 'write',
};

const rightOf = (method: string, url: string): SupportRight | undefined =>
  supportRights[`${method === 'HEAD' ? 'GET' : method} ${url}`];

/** Call it for each route that takes a session or an authentication token. @throws Error if the route has no line above */
export function requireSupportRight(method: string | readonly string[], url: string): void {
  for (const one of [method].flat()) {
    if (rightOf(one, url) === undefined) throw new Error(`${one} ${url} does not say what a support login may do`);
  }
}

/** The codes of the problems that a support login gets at a route, for the OpenAPI document. */
export function problemsOfSupport(method: string, url: string): ErrorCode[] {
  const right = rightOf(method, url);
  if (right === 'read') return [];
  const codes: ErrorCode[] = onlyReads(method) ? [] : ['read_only_session'];
  return right === 'write' ? codes : [...codes, 'not_for_support_logins'];
}

/** The problem if a support login may not send the request; undefined if it may. */
export function supportRefusal(
  request: FastifyRequest,
  { act, device_id }: Session,
): 'read_only_session' | 'not_for_support_logins' | undefined {
  if (act === undefined) return undefined;
  const { method, routeOptions, params } = request;
  const right = rightOf(method, routeOptions.url ?? '');
  if (right === 'read') return undefined;
  // A support login, its login and its device have one id.
  const { id } = params as { readonly id?: string };
  if (right === 'own' && id?.toLowerCase() === device_id) return undefined;
  if (!act.write && !onlyReads(method)) return 'read_only_session';
  return right === 'write' ? undefined : 'not_for_support_logins';
}
