import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { type ErrorCode, errors } from '../../contract/errors/problems.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { LogAddress } from '../../lib/log-address.js';
import { type App, clientAddress } from '../requests/route.js';

/** The kind of refusal: the code of the problem, or a login at a provider that came back in another browser. */
type Refusal = ErrorCode | 'redirect_in_other_browser';

/** Milliseconds: the refusals of one kind and address in this time are one line and one count. */
const windowMs = 60_000;
/** The maximum number of kinds and addresses that are counted separately in that time. Further ones are counted together. */
const maxKeys = 1000;

/** Refusals on every route that show an attempt to get past a control. */
const everywhere: ReadonlySet<Refusal> = new Set([
  'address_blocked',
  'redirect_in_other_browser',
  'invalid_authentication_token',
  'cross_site_request',
  'invalid_api_key',
  'invalid_dpop_proof',
  'code_rejected',
  'proof_rejected',
  'enrollment_link_rejected',
  'setup_link_unknown',
  'setup_link_used',
  'setup_link_expired',
]);

interface Repeats {
  readonly event: Refusal;
  readonly address: string | undefined;
  count: number;
}

/**
 * Logs refused requests that may be an attack: refused calls of the admin API, wrong keys and authentication tokens, wrong codes
 * of enrolment, exceeded limits (429), wrong solutions of HUMAN_CHECK, requests of other sites, and logins at providers that come
 * back in another browser. Wrong secrets at a login are audit events. Only the first of each kind and address in
 * a minute has a line of its own; the rest is counted in one line, so a flood of requests is no flood of lines.
 */
export function securityEventsPlugin(app: App, log: Pick<FastifyBaseLogger, 'warn'>, logAddress: LogAddress): void {
  const seen = new Map<string, Repeats>();
  let others = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(): void {
    timer = undefined;
    for (const { event, address, count } of seen.values()) {
      if (count > 0) log.warn({ security_event: event, address, count }, 'more requests were refused in this minute');
    }
    if (others > 0) log.warn({ security_event: 'others', count: others }, 'more requests were refused in this minute');
    seen.clear();
    others = 0;
  }

  app.decorate('noteRefusal', (request: FastifyRequest, code: Refusal) => {
    if (!isSecurityEvent(request, code)) return;
    const client = clientAddress(request);
    const key = `${code} ${client}`;
    const known = seen.get(key);
    timer ??= setTimeout(report, windowMs).unref();
    if (known !== undefined) known.count += 1;
    else if (seen.size >= maxKeys) others += 1;
    else {
      const address = logAddress(client);
      seen.set(key, { event: code, address, count: 0 });
      const { id, method, routeOptions, authorized } = request;
      const caller = authorized?.caller?.name ?? (authorized?.session && `user:${authorized.session.user_id}`);
      log.warn(
        { security_event: code, address, request_id: id, method, route: routeOptions.url ?? 'unmatched', caller },
        'a request was refused',
      );
    }
  });
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    report();
  });
}

function isSecurityEvent({ routeOptions, body }: FastifyRequest, code: Refusal): boolean {
  const status = code === 'redirect_in_other_browser' ? undefined : errors[code].status;
  const isAdmin = typeof routeOptions.config?.access === 'object';
  // The first request of a client has no solution yet. A wrong one is an attempt to get past the check.
  const hasWrongSolution = code === 'human_check_required' && isJsonObject(body) && body.human_check !== undefined;
  return everywhere.has(code) || hasWrongSolution || status === 429 || (isAdmin && (status === 401 || status === 403));
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs the refusal if it may be an attack. */
    noteRefusal(request: FastifyRequest, code: Refusal): void;
  }
}
