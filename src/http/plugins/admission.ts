import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headerValues } from '../../lib/http-headers.js';
import { Problem } from '../../lib/problem.js';
import type { BucketState } from '../../limits/admission/token-buckets.js';
import type { RequestAdmission } from '../admission/request-admission.js';
import { type App, type Caller, clientAddress, requireScope } from '../requests/route.js';

/** The header with the address of a backend's client, and the header with the backend's API key. */
const clientHeader = 'postern-client-address';
const keyHeader = 'postern-api-key';

export interface AdmissionOptions {
  readonly admission: RequestAdmission;
  verifyApiKey(token: string): Promise<Caller | undefined>;
}

/**
 * Before the authorization, refuses requests from blocked addresses, and counts each other request toward the limit of
 * its address. It does not count a request whose credentials look like an API key: if the key is wrong, `countRefused`
 * counts the request. Probes are always admitted: if a block refused them, an orchestrator could restart the service.
 */
export function admissionPlugin(app: App, { admission, verifyApiKey }: AdmissionOptions): void {
  app.decorate('whenBlocked', admission.whenBlocked);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config?.isProbe === true) return done();
    if (request.headers[clientHeader] === undefined) {
      admitAddress(admission, request, reply);
      return done();
    }
    admitForwarded(request, reply).then(() => done(), done);
  });

  async function admitForwarded(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // This comes before the check of the key, which takes a query.
    refuseBlocked(admission, clientAddress(request));
    const client = await forwardedClient(request, verifyApiKey).catch((error: Error) => {
      countRefused(admission, request, reply);
      throw error;
    });
    if (client !== undefined) request.forwardedClient = client;
    admitAddress(admission, request, reply);
  }
}

/** Counts requests of sessions. It runs after the authorization. */
export function sessionLimitPlugin(app: App, admission: RequestAdmission): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { session, caller } = request.authorized;
    // All sessions of an operator share a limit: the authorization knows only the operator.
    const id = session?.id ?? (caller?.name.startsWith('user:') ? caller.name : undefined);
    if (id !== undefined) applyLimit(request, reply, admission, admission.countSession(request.raw, id));
    done();
  });
}

/** Counts a request that the authorization has refused, if it was not counted yet. @throws Problem `too_many_requests` */
export function countRefused(admission: RequestAdmission, request: FastifyRequest, reply: FastifyReply): void {
  applyLimit(request, reply, admission, admission.countAddress(request.raw, clientAddress(request)));
}

function admitAddress(admission: RequestAdmission, request: FastifyRequest, reply: FastifyReply): void {
  if (admission.admitsAll()) return;
  const address = clientAddress(request);
  refuseBlocked(admission, address);
  if (isExempt(admission, request)) return;
  applyLimit(request, reply, admission, admission.countAddress(request.raw, address));
}

/** @throws Problem `address_blocked` */
function refuseBlocked(admission: RequestAdmission, address: string): void {
  if (admission.isBlocked(address)) throw new Problem('address_blocked');
}

/** Whether the route takes API keys, and the credentials are not those of a session. */
function isExempt({ limitsApiKeys }: RequestAdmission, { routeOptions, headers }: FastifyRequest): boolean {
  const takesKeys = typeof routeOptions.config?.access === 'object';
  return takesKeys && !limitsApiKeys && !/^bearer +pss_/i.test(headers.authorization ?? 'bearer pss_');
}

function applyLimit(
  request: FastifyRequest,
  reply: FastifyReply,
  admission: RequestAdmission,
  state: BucketState | undefined,
): void {
  if (state === undefined) return;
  const [policyName = '', policy = '', name = '', limits = ''] = admission.headersOf(request.raw);
  reply.header(policyName, policy).header(name, limits);
  if (state.isEmpty) throw new Problem('too_many_requests', { retryAfter: state.nextIn });
}

/**
 * The address that a backend sends for its client. The backend must send an API key with the scope `clients:forward`: in
 * `Authorization`, or in a separate header if `Authorization` has the credentials of the client. Without such a key, the
 * address is ignored, because any client can send it.
 * @throws Problem `invalid_api_key`, `insufficient_scope`, `malformed_request`
 */
async function forwardedClient(
  { raw, headers }: FastifyRequest,
  verifyApiKey: AdmissionOptions['verifyApiKey'],
): Promise<string | undefined> {
  const [separateKey, ...more] = headerValues(raw.rawHeaders, keyHeader);
  const key = separateKey ?? /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (key === undefined || (separateKey === undefined && /^ps[as]_/.test(key))) return undefined;
  const caller = more.length > 0 ? undefined : await verifyApiKey(key);
  // The authorization refuses a wrong key in `Authorization`.
  if (separateKey === undefined && (caller === undefined || !isAllowed(caller))) return undefined;
  if (caller === undefined) throw new Problem('invalid_api_key');
  requireScope(caller, 'clients:forward');
  const [address = '', ...others] = headerValues(raw.rawHeaders, clientHeader);
  if (others.length > 0 || isIP(address) === 0 || address.includes('%')) {
    throw new Problem('malformed_request', {
      errors: [{ field: 'Postern-Client-Address', code: 'invalid_network' }],
    });
  }
  return address;
}

const isAllowed = ({ scopes }: Caller) => scopes.includes('clients:forward') || scopes.includes('admin');
