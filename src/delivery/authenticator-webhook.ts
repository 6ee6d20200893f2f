import type { Plugin, PluginAnswer, PluginUser } from '../authentication/authenticators/plugin.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { Outbound, OutboundResponse } from './outbound.js';
import { createWebhookSigner } from './webhook-signature.js';

export interface WebhookAuthenticatorOptions {
  /** What clients send as `authenticator`. */
  readonly name: string;
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly steps: 1 | 2;
  readonly outbound: Outbound;
}

/**
 * Has a service of the operator's decide, by a signed POST. It is asked for unknown users too (`user` is null), so that
 * time does not tell who exists. Only a 200 with `{"approved": true}` approves, only one with `{"approved": false}` refuses;
 * everything else is a failure, whose reason the log has without anything of the secret or the answer.
 */
export function createWebhookAuthenticator(options: WebhookAuthenticatorOptions): Plugin {
  const { name, url, steps, outbound } = options;
  const sign = createWebhookSigner(options.secret);

  async function post(type: 'begin' | 'verify', about: object): Promise<OutboundResponse> {
    const id = newId();
    const payload = JSON.stringify({ type: `authenticator.${type}`, id, authenticator: name, ...about });
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

  async function verify(user: PluginUser | undefined, secret: string, authenticationId: string): Promise<boolean> {
    const response = await post('verify', { authentication_id: authenticationId, user: shown(user), secret });
    if (response.status !== 200) throw unavailable(new Error(`${name} answered ${response.status}`));
    const approved = readApproved(response.body);
    if (approved === undefined) throw unavailable(new Error(`${name} answered 200 without "approved"`));
    return approved;
  }

  if (steps === 1) return { name, steps, verify };
  return {
    ...{ name, steps },
    async begin(user: PluginUser | undefined, authenticationId: string) {
      const { status } = await post('begin', { authentication_id: authenticationId, user: shown(user) });
      if (status < 200 || status > 299) throw unavailable(new Error(`${name} answered ${status}`));
      return {};
    },
    verify: ({ secret, authenticationId }: PluginAnswer, user: PluginUser | undefined) =>
      verify(user, secret, authenticationId),
  };
}

function shown(user: PluginUser | undefined) {
  if (user === undefined) return null;
  const { id, username, email, phone, locale } = user;
  return { id, username: username ?? null, email: email ?? null, phone: phone ?? null, locale: locale ?? null };
}

function readApproved(body: Buffer): boolean | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString());
    const approved =
      typeof answer === 'object' && answer !== null && 'approved' in answer ? answer.approved : undefined;
    return typeof approved === 'boolean' ? approved : undefined;
  } catch {
    return undefined;
  }
}

const unavailable = (cause: unknown) => new Problem('authenticator_unavailable', { retryAfter: 5, cause });
