import { newId } from '../lib/ids.js';
import { parseJsonObject } from '../lib/json-object.js';
import { Problem } from '../lib/problem.js';
import type { CustomEndpoint, CustomUser } from '../login/authenticators/custom.js';
import type { Outbound, OutboundResponse } from './outbound.js';
import { createWebhookSigner } from './webhook-signature.js';

export interface AuthenticatorWebhookOptions {
  /** The value of `authenticator` in a client's request. */
  readonly name: string;
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly outbound: Outbound;
}

/**
 * Calls a service of the operator with a POST that is signed as Standard Webhooks 1.0 defines. It calls the service for
 * unknown users too, with `user` null, so that the time does not show whether a user exists. A 200 with `approved` true
 * or false decides. Everything else is a failure, and its log line contains neither the secret nor the response.
 */
export function createAuthenticatorWebhook(options: AuthenticatorWebhookOptions): CustomEndpoint {
  const { name, url, outbound } = options;
  const sign = createWebhookSigner(options.secret);

  async function post(type: 'begin' | 'verify', fields: object): Promise<OutboundResponse> {
    const id = newId();
    const payload = JSON.stringify({ type: `authenticator.${type}`, id, authenticator: name, ...fields });
    const headers = {
      'content-type': 'application/json',
      ...sign({ id, timestamp: new Date(), payload }),
    };
    try {
      return await outbound.request({ url, method: 'POST', headers, body: payload });
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  return {
    async begin(user, authenticationId) {
      const { status } = await post('begin', { authentication_id: authenticationId, user: publicUser(user) });
      if (status < 200 || status > 299) throw unavailable(new Error(`${name} answered ${status}`));
    },
    async verify(user, secret, authenticationId) {
      const response = await post('verify', { authentication_id: authenticationId, user: publicUser(user), secret });
      if (response.status !== 200) throw unavailable(new Error(`${name} answered ${response.status}`));
      const approved = readApproved(response.body);
      if (approved === undefined) throw unavailable(new Error(`${name} answered 200 without "approved"`));
      return approved;
    },
  };
}

function publicUser(user: CustomUser | undefined) {
  if (user === undefined) return null;
  const { id, username, email, phone, locale } = user;
  return { id, username: username ?? null, email: email ?? null, phone: phone ?? null, locale: locale ?? null };
}

function readApproved(body: Buffer): boolean | undefined {
  const approved = parseJsonObject(body.toString())?.approved;
  return typeof approved === 'boolean' ? approved : undefined;
}

const unavailable = (cause: unknown) => new Problem('authenticator_unavailable', { retryAfter: 5, cause });
