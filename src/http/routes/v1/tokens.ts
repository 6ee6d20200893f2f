import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Login } from '../../../authentication/login.js';
import type { LoginResult } from '../../../authentication/login-end.js';
import type { Tokens } from '../../../authentication/tokens.js';
import {
  Authentication,
  AuthenticationState,
  DeletedToken,
  secretRequestOf,
  TokenRequest,
} from '../../../contract/authentication.js';
import { authenticationErrors } from '../../../contract/errors.js';
import { preferredLanguage, say } from '../../../lib/language.js';
import { Problem } from '../../../lib/problem.js';
import { type App, authenticationTokenOf, originOf, sessionOf } from '../../route.js';

const Params = Type.Object({ id: Type.String({ description: 'The id of the authentication.' }) });

/** Logging in, asking how far a login is, and logging out. */
export function tokenRoutes(
  app: App,
  { login, tokens, pinIsRequired }: { login: Login; tokens: Tokens; pinIsRequired: boolean },
): void {
  app.route({
    method: 'POST',
    url: '/v1/tokens',
    schema: {
      operationId: 'createToken',
      summary: 'Get an authentication token',
      description:
        'Step 1 of a login. A single-step authenticator (password) answers approved with the token, or rejected. A two-step one (sms, email) answers created, or pending with a challenge (passkey, oidc); its secret goes to POST /v1/tokens/{id}/secret. Where a second factor is asked for, the right first secret answers pending with a challenge, and the same id takes another secret. A wrong secret and an unknown identity look the same.',
      tags: ['Tokens'],
      body: TokenRequest,
      response: { 201: { ...Authentication, description: 'Authentication started or completed.' } },
    },
    config: {
      access: 'public',
      problems: ['account_locked', 'account_temporarily_locked', 'too_many_requests', 'authenticator_unavailable'],
    },
    async handler(request, reply) {
      const result = await login.start(request.body, originOf(request));
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
        'Step 2, and the second factor where one is asked for: then the answer is pending once more, with its challenge. With an Idempotency-Key, a repeat of the approving request within 10 minutes, while the token is unused, is approved again with a new token.',
      tags: ['Tokens'],
      params: Params,
      body: secretRequestOf({ pinIsRequired }),
      response: {
        201: {
          ...Authentication,
          description: 'Approved; the token is in it. Or pending, where a second factor is asked for.',
        },
      },
    },
    config: {
      access: 'public',
      problems: [
        ...(['authorization_rejected', 'account_locked', 'account_temporarily_locked', 'too_many_requests'] as const),
        'authenticator_unavailable',
        'secret_unreadable',
      ],
    },
    async handler(request, reply) {
      const { secret, pin } = request.body;
      const key = request.headers['idempotency-key'];
      const idempotencyKey = typeof key === 'string' ? key : undefined;
      try {
        const result = await login.answer(request.params.id, { secret, pin, idempotencyKey }, originOf(request));
        return reply.code(201).send(toAuthentication(result, request));
      } catch (error) {
        throw withMessage(error, request);
      }
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/tokens/:id',
    schema: {
      operationId: 'getTokenStatus',
      summary: 'Ask how far an authentication is',
      description: 'Needs no credentials: the random id is the capability. Never shows the token.',
      tags: ['Tokens'],
      params: Params,
      response: { 201: { ...AuthenticationState, description: 'The status right now.' } },
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
      summary: "Log out one of one's own devices",
      description: 'Ends the authentication token and every session of it, at once and on every instance.',
      tags: ['Tokens'],
      params: Params,
      response: { 200: { ...DeletedToken, description: 'The authorization token was deleted.' } },
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
      tags: ['Tokens'],
      response: { 200: { ...DeletedToken, description: 'The authorization token was deleted.' } },
    },
    config: { access: 'authentication-token', problems: ['no_active_token'] },
    async handler(request) {
      return tokens.removeHeld(authenticationTokenOf(request), originOf(request));
    },
  });
}

const messageOf = (code: LoginResult['error_code'], request: FastifyRequest): string =>
  code === '' ? '' : say(authenticationErrors[code], preferredLanguage(request.headers['accept-language']));

function toAuthentication(result: LoginResult, request: FastifyRequest): Authentication {
  return { ...result, error_message: messageOf(result.error_code, request) };
}

/** Gives the authentication that rides on a rejection its message, in the client's language. */
function withMessage(error: unknown, request: FastifyRequest): unknown {
  if (!(error instanceof Problem) || error.code !== 'authorization_rejected') return error;
  const message = messageOf('authorization_rejected', request);
  const authentication = { ...(error.options.members?.authentication as object), error_message: message };
  return new Problem(error.code, { ...error.options, members: { authentication } });
}
