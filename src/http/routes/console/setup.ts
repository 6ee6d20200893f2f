import type { OperatorSetUp } from '../../../account/operator-setup.js';
import {
  SetUpCompletion,
  SetUpFactor,
  SetUpFactorRequest,
  SetUpLink,
  SetUpLinkRequest,
  SetUpResult,
} from '../../../contract/console/set-up.js';
import { parseToken } from '../../../lib/crypto/token-strings.js';
import { Problem } from '../../../lib/problem.js';
import type { Sessions } from '../../../sessions/sessions.js';
import { type App, originOf, tokenUseOf } from '../../requests/route.js';
import { setCookie } from './cookies.js';
import type { ConsoleRouteOptions } from './session.js';

/** The services of the set-up. */
export interface SetUpServices {
  readonly operatorSetUp: OperatorSetUp;
  readonly sessions: Pick<Sessions, 'create'>;
}

const linkProblems = ['setup_link_unknown', 'setup_link_used', 'setup_link_expired', 'cross_site_request'] as const;

/** Routes of the page behind a set-up link, where a person creates their own account with a role. */
export function consoleSetUpRoutes(
  app: App,
  { operatorSetUp, sessions }: SetUpServices,
  { cookies, refuseOtherSites: onRequest }: Omit<ConsoleRouteOptions, 'installation'>,
): void {
  app.route({
    method: 'POST',
    url: '/console/setup/link',
    schema: {
      operationId: 'readSetUpLink',
      summary: 'Read a set-up link',
      description: 'Says what the link is for. The link stays valid.',
      body: SetUpLinkRequest,
      response: { 200: { ...SetUpLink, description: 'The link can be used.' } },
    },
    config: { access: 'public', problems: linkProblems },
    onRequest,
    handler: (request) => operatorSetUp.describe(request.body.secret),
  });

  app.route({
    method: 'POST',
    url: '/console/setup/factor',
    schema: {
      operationId: 'startSetUpFactor',
      summary: 'Start the second factor of a set-up',
      description:
        'Checks the details, and makes the secret of an authenticator app or the options of a passkey. It creates no user and does not use the link, so it can be repeated. username or email is required.',
      body: SetUpFactorRequest,
      response: { 201: { ...SetUpFactor, description: 'A factor to confirm. It has totp or passkey.' } },
    },
    config: { access: 'public', problems: [...linkProblems, 'identity_taken'] },
    onRequest,
    handler: async (request, reply) => reply.code(201).send(await operatorSetUp.begin(request.body)),
  });

  app.route({
    method: 'POST',
    url: '/console/setup',
    schema: {
      operationId: 'completeSetUp',
      summary: 'Complete a set-up',
      description:
        'Creates the user with the factor and the role of the link, signs the user in to the console, and uses the link: all or nothing. Send `code` for an authenticator app, and `response` for a passkey.',
      body: SetUpCompletion,
      response: { 201: { ...SetUpResult, headers: setCookie, description: 'The user is signed in.' } },
    },
    config: { access: 'public', problems: [...linkProblems, 'identity_taken', 'proof_rejected'] },
    onRequest,
    async handler(request, reply) {
      const { token, recoveryCodes } = await operatorSetUp.complete(request.body, originOf(request));
      const parsed = parseToken('authentication', token);
      if (parsed === undefined) throw new Problem('internal_error');
      const { session } = await sessions.create(parsed, tokenUseOf(request));
      cookies.store(request, reply, { token, deviceId: session.device_id });
      return reply.code(201).send({ session, recovery_codes: [...recoveryCodes] });
    },
  });
}
