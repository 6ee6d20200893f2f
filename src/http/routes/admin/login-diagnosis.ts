import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isReservedDeviceId } from '../../../contract/common.js';
import type { Language } from '../../../contract/errors/text.js';
import {
  DiagnosisQuery,
  DiagnosisRequest,
  LoginDiagnosis,
  type LoginDiagnosis as LoginDiagnosisBody,
} from '../../../contract/login-diagnosis/login-diagnosis.js';
import { loginReasons, loginVerdicts } from '../../../contract/login-diagnosis/texts.js';
import { type ProviderProblemCode, providerProblems } from '../../../contract/login-provider/problems.js';
import { parseId } from '../../../lib/ids.js';
import { formatText, preferredLanguage } from '../../../lib/language.js';
import { type FieldError, throwIfErrors } from '../../../lib/problem.js';
import type { Diagnosis, DiagnosisView, LoginDiagnoses } from '../../../login/diagnosis/diagnosis.js';
import { bareAddress } from '../../admission/client-address.js';
import { IdParams, pathId, type QueryParameters } from '../../requests/parameters.js';
import type { App } from '../../requests/route.js';

const description =
  'Says for each authenticator how a login with the right secrets would end now, and why: the reasons, when each began and ends, and the routes that change it. It changes nothing: it takes no guess and counts no request.';

/** Routes that answer "Can they log in?". */
export function adminLoginDiagnosisRoutes(app: App, { loginDiagnoses }: { loginDiagnoses: LoginDiagnoses }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id/login-diagnosis',
    schema: {
      operationId: 'diagnoseUserLogin',
      summary: 'Diagnose the logins of a user',
      description: `${description} Each authenticator is checked with the identity that the user would usually log in with.`,
      params: IdParams,
      querystring: DiagnosisQuery,
      response: { 200: { ...LoginDiagnosis, description: 'The diagnosis.' } },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'], checkQuery: readView },
    async handler(request, reply) {
      const view = readView(request.query as QueryParameters);
      return reply.send(inWords(await loginDiagnoses.ofUser(pathId(request.params), view), request));
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/login-diagnosis',
    schema: {
      operationId: 'diagnoseLogin',
      summary: 'Diagnose a login by its identity',
      description: `${description} The identity does not have to exist.`,
      body: DiagnosisRequest,
      response: { 200: { ...LoginDiagnosis, description: 'The diagnosis.' } },
    },
    config: { access: { scope: 'users:read' }, recentProof: 'not-needed' },
    async handler(request, reply) {
      const { identity, authenticator, device_id, address } = request.body;
      throwIfErrors(addressErrors(address));
      const deviceId = device_id == null ? undefined : parseId(device_id);
      const view = { deviceId, address: asSeen(address), authenticator };
      return reply.send(inWords(await loginDiagnoses.ofIdentity(identity, view), request));
    },
  });
}

/** @throws Problem `validation_failed` */
function readView(query: QueryParameters): DiagnosisView {
  const errors: FieldError[] = [];
  const read = (field: 'device_id' | 'address') => {
    const value = query[field];
    if (typeof value === 'string' || value === undefined) return value;
    errors.push({ field, code: 'repeated_parameter' });
    return undefined;
  };
  const address = read('address');
  const given = read('device_id');
  const deviceId = given === undefined ? undefined : parseId(given);
  if (given !== undefined && deviceId === undefined) errors.push({ field: 'device_id', code: 'invalid_format' });
  if (deviceId !== undefined && isReservedDeviceId(deviceId)) errors.push({ field: 'device_id', code: 'reserved_id' });
  throwIfErrors([...errors, ...addressErrors(address)]);
  return { deviceId, address: asSeen(address) };
}

/** The form of the address in which logins are counted and blocked: without a zone. The text itself if it is no address. */
const asSeen = (address: string | undefined) => address && bareAddress(address, address);

function addressErrors(address: string | undefined): FieldError[] {
  return address === undefined || isIP(address) !== 0 ? [] : [{ field: 'address', code: 'invalid_format' }];
}

/** Adds the texts in the language of the client. */
function inWords(diagnosis: Diagnosis, request: FastifyRequest): LoginDiagnosisBody {
  const language = preferredLanguage(request.headers['accept-language']);
  const reason = (finding: Diagnosis['reasons'][number]) => ({
    ...finding,
    message: formatText(loginReasons[finding.code], language, {
      ...valuesOf({ ...finding.data, until: finding.until }),
      ...problemOf(finding, language),
    }),
  });
  const { verdict, until } = diagnosis;
  return {
    ...diagnosis,
    message: formatText(loginVerdicts[verdict], language, valuesOf({ until })).trim(),
    reasons: diagnosis.reasons.map(reason),
    ways: diagnosis.ways.map((way) => ({ ...way, reasons: way.reasons.map(reason) })),
  };
}

/** What went wrong at a provider, and what to do. */
function problemOf({ code, data }: Diagnosis['reasons'][number], language: Language): { readonly problem?: string } {
  if (code !== 'provider_fails' && code !== 'provider_refused') return {};
  const { message, remedy } = providerProblems[data.problem as ProviderProblemCode];
  return { problem: `${formatText(message, language, valuesOf(data))} ${remedy[language]}` };
}

/** The values of placeholders: the texts and numbers. */
function valuesOf(data: Readonly<Record<string, unknown>>): Record<string, string | number> {
  const entries = Object.entries(data).filter(
    (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return Object.fromEntries(entries);
}
