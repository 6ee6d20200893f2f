import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  Authentication,
  AuthenticationState,
  DeletedToken,
  secretRequestOf,
  TokenRequest,
} from '../../../contract/authentication.js';
import { authenticationErrors } from '../../../contract/errors/authentications.js';
import { nonceHeader } from '../../../contract/session.js';
import { parseToken } from '../../../lib/crypto/token-strings.js';
import { formatText, preferredLanguage } from '../../../lib/language.js';
import { Problem } from '../../../lib/problem.js';
import type { LoginResult } from '../../../login/completion.js';
import type { Login } from '../../../login/login.js';
import type { Tokens } from '../../../login/tokens.js';
import type { DpopVerifier } from '../../../sessions/dpop/dpop-verifier.js';
import { type App, authenticationTokenOf, originOf, sessionOf, tokenUseOf } from '../../requests/route.js';

const Params = Type.Object({ id: Type.String({ description: 'The id of the authentication.' }) });

/** The services of the routes for logins. */
interface LoginServices {
  readonly login: Login;
  readonly dpopVerifier: Pick<DpopVerifier, 'nonceAt'>;
  /** Whether step 2 of a login needs a PIN. */
  readonly pinIsRequired: boolean;
}

/** Gives the client of a new bound token the nonce for its first DPoP proof. */
export function addFirstNonce(
  reply: FastifyReply,
  dpopVerifier: Pick<DpopVerifier, 'nonceAt'>,
  { is_bound, token, updated_at }: LoginResult,
): void {
  const [userId] = (is_bound && token !== undefined && parseToken('authentication', token)?.ids) || [];
  if (userId !== undefined) reply.header('DPoP-Nonce', dpopVerifier.nonceAt(userId, Date.parse(updated_at) / 1000));
}

/** Routes for the two steps of a login. */
export function loginRoutes(app: App, { login, dpopVerifier, pinIsRequired }: LoginServices): void {
  /** Gives the client the nonce for its first DPoP proof. */
  const addNonce = (reply: FastifyReply, result: LoginResult) => addFirstNonce(reply, dpopVerifier, result);

  app.route({
    method: 'POST',
    url: '/v1/tokens',
    schema: {
      operationId: 'createToken',
      summary: 'Get an authentication token',
      description:
        'Step 1 of a login. A single-step authenticator (password) answers approved with the token, or rejected. A two-step authenticator answers created (sms, email) or pending with a challenge (passkey, oidc). Send its secret to POST /v1/tokens/{id}/secret. If a second factor, its enrolment or a new password is needed, a correct first secret answers pending with a challenge, and the same id takes another secret. A wrong secret and an unknown identity return the same response.',
      body: TokenRequest,
      response: {
        201: { ...Authentication, headers: nonceHeader, description: 'Authentication started or completed.' },
      },
    },
    config: {
      access: 'public',
      problems: [
        'account_locked',
        'account_temporarily_locked',
        'human_check_required',
        'too_many_requests',
        'authenticator_unavailable',
        'redirect_not_allowed',
      ],
    },
    async handler(request, reply) {
      const result = await login.start(request.body, originOf(request));
      addNonce(reply, result);
      return reply.code(201).send(toAuthentication(result, request));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/tokens/:id/secret',
    schema: {
      operationId: 'answerToken',
      summary: 'Answer a challenge of a login',
      description:
        'Step 2 of a login, and what it needs afterwards. The response is pending again, with the next challenge, while a second factor, its enrolment or a new password is needed. A new password that the rules refuse is 422, and the challenge stays open. With an Idempotency-Key, you can repeat the approving request within 10 minutes while its token is unused: the response then has a new token.',
      params: Params,
      body: secretRequestOf({ pinIsRequired }),
      response: {
        201: {
          ...Authentication,
          headers: nonceHeader,
          description: 'Approved, with the token. Or pending, with the next challenge.',
        },
      },
    },
    config: {
      access: 'public',
      canRepeatApproval: true,
      problems: [
        'authorization_rejected',
        'external_identity_taken',
        'account_locked',
        'account_temporarily_locked',
        'human_check_required',
        'too_many_requests',
        'authenticator_unavailable',
        'secret_unreadable',
      ],
    },
    async handler(request, reply) {
      const { secret, pin, human_check: humanCheck } = request.body;
      const key = request.headers['idempotency-key'];
      const idempotencyKey = typeof key === 'string' ? key : undefined;
      try {
        const result = await login.answer(
          request.params.id,
          { secret, pin, idempotencyKey, humanCheck },
          originOf(request),
        );
        addNonce(reply, result);
        return reply.code(201).send(toAuthentication(result, request));
      } catch (error) {
        throw withMessage(error, request);
      }
    },
  });
}

/** Routes for the status of a login, and logout. */
export function tokenRoutes(app: App, { tokens }: { readonly tokens: Tokens }): void {
  app.route({
    method: 'GET',
    url: '/v1/tokens/:id',
    schema: {
      operationId: 'getTokenStatus',
      summary: "Get a login's status",
      description: 'Needs no credentials: the id is random and serves as the capability. It never shows the token.',
      params: Params,
      response: { 201: { ...AuthenticationState, description: 'The current status.' } },
    },
    config: { access: 'public', problems: ['not_found'] },
    async handler(request, reply) {
      return reply.code(201).send(await tokens.status(request.params.id));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/tokens/:id',
    schema: {
      operationId: 'deleteToken',
      summary: 'Log out one of your devices',
      description: 'Ends the authentication token and every session of it, at once and on every instance.',
      params: Params,
      response: { 200: { ...DeletedToken, description: 'The authentication token was deleted.' } },
    },
    config: { access: 'session', problems: ['no_active_token'] },
    async handler(request) {
      return tokens.remove(sessionOf(request).user_id, request.params.id, originOf(request));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/tokens',
    schema: {
      operationId: 'deleteHeldToken',
      summary: 'Log out with the authentication token itself',
      response: { 200: { ...DeletedToken, description: 'The authentication token was deleted.' } },
    },
    config: {
      access: 'authentication-token',
      problems: ['no_active_token', 'invalid_dpop_proof', 'use_dpop_nonce'],
    },
    async handler(request) {
      return tokens.removeHeld(authenticationTokenOf(request), tokenUseOf(request));
    },
  });
}

const messageOf = (code: LoginResult['error_code'], request: FastifyRequest): string =>
  code === '' ? '' : formatText(authenticationErrors[code], preferredLanguage(request.headers['accept-language']));

/** `is_bound` is present only if it is true, so that clients without a key get only the members that they know. */
export function toAuthentication(
  { is_bound, recovery_codes: codes, ...result }: LoginResult,
  request: FastifyRequest,
): Authentication {
  const isBound = is_bound && result.token !== undefined;
  return {
    ...result,
    ...(codes && { recovery_codes: [...codes] }),
    ...(isBound && { is_bound }),
    error_message: messageOf(result.error_code, request),
  };
}

/** Adds the message, in the client's language, to the authentication in a rejection. */
function withMessage(error: unknown, request: FastifyRequest): unknown {
  if (!(error instanceof Problem) || error.code !== 'authorization_rejected') return error;
  const rejected = error.options.members?.authentication as Pick<LoginResult, 'error_code'>;
  const authentication = { ...rejected, error_message: messageOf(rejected.error_code, request) };
  return new Problem(error.code, { ...error.options, members: { authentication } });
}
