import { Type } from 'typebox';
import type { Language } from '../../../contract/errors/text.js';
import {
  LoginProvider,
  type LoginProvider as LoginProviderBody,
  type ProviderProblem,
  ProviderTest,
  type ProviderTest as ProviderTestBody,
  StartedProviderTest,
} from '../../../contract/login-provider/login-provider.js';
import { type ProviderProblemCode, providerGaps, providerProblems } from '../../../contract/login-provider/problems.js';
import { formatText, preferredLanguage } from '../../../lib/language.js';
import type { ListedProvider, LoginProviders } from '../../../login/providers/login-providers.js';
import { type App, callerOf } from '../../requests/route.js';

const url = '/admin/v1/login-providers';
const name = Type.String({ description: 'The name of the provider in OIDC_PROVIDERS.' });

/** Routes for the providers whose accounts can log in: whether they work, and a test of the whole login. */
export function adminLoginProviderRoutes(app: App, { loginProviders }: { loginProviders: LoginProviders }): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listLoginProviders',
      summary: 'List the providers whose accounts can log in',
      description:
        'The providers of OIDC_PROVIDERS, with what is missing in their configuration, and the last problem of each kind in their logins.',
      response: { 200: Type.Array(LoginProvider, { description: 'The providers, in the order of OIDC_PROVIDERS.' }) },
    },
    config: { access: { scope: 'admin' } },
    async handler(request) {
      const language = preferredLanguage(request.headers['accept-language']);
      return (await loginProviders.list()).map((listed) => inWords(listed, language));
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:name/tests`,
    schema: {
      operationId: 'startLoginProviderTest',
      summary: 'Start a test of a provider',
      description:
        'Returns an address to open in a browser. It leads to the provider and back, as a login does, and ends with a page that says whether it worked. It logs nobody in, and makes and links nothing.',
      params: Type.Object({ name }),
      response: { 201: { ...StartedProviderTest, description: 'Open `url` in a browser.' } },
    },
    config: {
      access: { scope: 'admin' },
      recentProof: 'not-needed',
      problems: ['not_found', 'provider_incomplete'],
    },
    async handler(request, reply) {
      const [kind, id] = callerOf(request).name.split(':');
      const started = await loginProviders.startTest(request.params.name, kind === 'user' ? id : undefined);
      return reply.code(201).send(started);
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:name/tests/:id`,
    schema: {
      operationId: 'getLoginProviderTest',
      summary: 'Get the state of a test of a provider',
      description:
        'At which step the test is, or why it failed there. A failed test goes on if its address is opened again.',
      params: Type.Object({ name, id: Type.String({ description: 'The id of the test.' }) }),
      response: { 200: { ...ProviderTest, description: 'The test.' } },
    },
    config: { access: { scope: 'admin' }, problems: ['not_found'] },
    async handler(request): Promise<ProviderTestBody> {
      const { id } = request.params;
      const language = preferredLanguage(request.headers['accept-language']);
      const { progress, account, foreseen, isOpen, expiresAt } = await loginProviders.readTest(request.params.name, id);
      const hasExpired = !isOpen && account === undefined && progress.problem === undefined;
      const at = progress.problem && new Date(progress.problem.at).toISOString();
      const problem = hasExpired
        ? describeProblem({ code: 'login_expired', detail: null, at: expiresAt }, language)
        : progress.problem &&
          describeProblem({ ...progress.problem, detail: progress.problem.detail ?? null, at: at ?? '' }, language);
      return {
        id,
        state: account === undefined ? (problem === undefined ? 'waiting' : 'failed') : 'passed',
        step: progress.step,
        problem: problem ?? null,
        account:
          account === undefined
            ? null
            : {
                issuer: account.issuer,
                subject: account.subject,
                email: account.email ?? null,
                name: account.name ?? null,
                runs_mailbox: account.runsMailbox,
              },
        outcome: foreseen?.outcome ?? null,
        user_id: foreseen?.userId ?? null,
        expires_at: expiresAt,
      };
    },
  });
}

function inWords(listed: ListedProvider, language: Language): LoginProviderBody {
  const { provider, state, missing, workedAt, problems } = listed;
  return {
    name: provider.name,
    authenticator: provider.authenticator,
    title: provider.title,
    issuer: provider.issuer,
    redirect_uri: provider.redirect?.redirectUri ?? null,
    sign_up: provider.signUp,
    state,
    missing: missing.map((code) => ({ code, message: providerGaps[code][language] })),
    worked_at: workedAt,
    problems: problems.map((problem) => describeProblem(problem, language)),
  };
}

function describeProblem(
  { code, detail, at }: { readonly code: ProviderProblemCode; readonly detail: string | null; readonly at: string },
  language: Language,
): ProviderProblem {
  const { isFault, message, remedy, setting } = providerProblems[code];
  return {
    code,
    is_fault: isFault,
    detail,
    setting,
    happened_at: at,
    message: formatText(message, language, detail === null ? {} : { detail }),
    remedy: remedy[language],
  };
}
