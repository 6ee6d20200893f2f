import { request, requestConsole } from './client.js';
import { signChallenge } from './passkeys.js';
import { isTemporary, ProblemError } from './problem.js';
import type {
  AnswerTokenData,
  AnswerTokenResponse,
  Authentication,
  ConsoleEntry,
  CreateTokenData,
  CreateTokenResponse,
  DeviceInput,
  Identity,
} from './schema.js';

export const readConsoleEntry = (): Promise<ConsoleEntry> => requestConsole('GET', '/console/sign-in');

/** The next step of a login. */
export interface PendingLogin {
  readonly id: string;
  /** What the login asks for. `code`: a code that was sent to `destination`. */
  readonly asks: 'factor' | 'code' | 'new_password' | 'enrolment';
  readonly destination: string | null;
  /** The factor to add, if the login asks for an enrolment. */
  readonly factor: FactorToAdd;
  readonly takesCode: boolean;
  readonly takesRecoveryCode: boolean;
  /** The options for a passkey, if the login takes one. */
  readonly passkey: unknown;
}

/** The options of an enrolment: an authenticator app and a passkey. */
export interface FactorToAdd {
  readonly totp?: { readonly secret: string; readonly uri: string };
  readonly passkey?: { readonly options: unknown };
}

/** A login continues with a further secret, is approved, or is refused. */
export type Step =
  | { readonly status: 'pending'; readonly login: PendingLogin }
  | { readonly status: 'approved'; readonly token: string; readonly recoveryCodes: readonly string[] }
  | { readonly status: 'rejected' };

/** A mail address has an @, a phone number begins with + or has only digits and signs. All else is a username. */
function toIdentity(text: string): Identity {
  const value = text.trim();
  if (value.includes('@')) return { type: 'email', value };
  return { type: /^\+[\d\s().-]+$/.test(value) ? 'phone' : 'username', value };
}

/** Describes this browser for the list of the user's devices. */
export function thisDevice(id: string | null): DeviceInput {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent.replace('HeadlessChrome', 'Chrome'))?.[0];
  const system = /Windows|Android|iPhone|iPad|Mac OS|Linux/.exec(agent)?.[0];
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };
  return {
    ...(id !== null && { id }),
    make: 'Postern console',
    ...(browser !== undefined && { model: names[browser] ?? browser }),
    ...(system !== undefined && { os_name: system }),
  };
}

/** Starts a login with a password. */
export async function startWithPassword(
  input: { readonly identity: string; readonly password: string; readonly pin?: string },
  device: DeviceInput,
): Promise<Step> {
  const { identity, password, pin } = input;
  const body = {
    identity: toIdentity(identity),
    authenticator: 'password',
    secret: password,
    device,
    ...(pin !== undefined && pin !== '' && { pin }),
  };
  return toStep(await startLogin(body));
}

/** Logs in with a passkey that the user chooses, without a name. */
export async function logInWithPasskey(device: DeviceInput): Promise<Step> {
  const { id, challenge } = await startLogin({ authenticator: 'passkey', device });
  return answerLogin(id, await signChallenge(challenge));
}

const startLogin = (body: CreateTokenData['body']) =>
  request<CreateTokenData, CreateTokenResponse>('POST', '/v1/tokens', { body, authorization: 'none' });

/**
 * Answers with a code of the app, a recovery code, or the assertion of a passkey.
 *
 * @throws ProblemError `authorization_rejected` if the secret is wrong, and also if the login has expired
 */
export async function answerLogin(id: string, secret: string): Promise<Step> {
  const call = { path: { id }, body: { secret }, authorization: 'none' } as const;
  return toStep(await request<AnswerTokenData, AnswerTokenResponse>('POST', '/v1/tokens/{id}/secret', call));
}

const asked = { code: 'code', new_password: 'new_password', enrol: 'enrolment' } as const;

interface ChallengeMembers {
  readonly type: string;
  readonly alternatives?: unknown;
  readonly passkey?: unknown;
  readonly options?: readonly { readonly type: string; readonly secret?: string; readonly uri?: string }[];
}

function factorOf({ options = [] }: ChallengeMembers): FactorToAdd {
  const [totp, passkey] = ['totp', 'passkey'].map((wanted) => options.find(({ type }) => type === wanted));
  return {
    ...(totp !== undefined && { totp: { secret: totp.secret ?? '', uri: totp.uri ?? '' } }),
    ...(passkey !== undefined && { passkey: { options: passkey } }),
  };
}

function toStep({
  id,
  status,
  token,
  challenge,
  destination = null,
  recovery_codes: codes = [],
}: Authentication): Step {
  if (status === 'approved' && token !== undefined) return { status: 'approved', token, recoveryCodes: codes };
  if (status === 'rejected' || challenge === undefined) return { status: 'rejected' };
  const members = challenge as ChallengeMembers;
  const { type, alternatives, passkey } = members;
  return {
    status: 'pending',
    login: {
      id,
      asks: type in asked ? asked[type as keyof typeof asked] : 'factor',
      destination,
      factor: factorOf(members),
      takesCode: type === 'totp',
      takesRecoveryCode: Array.isArray(alternatives) && alternatives.includes('recovery_code'),
      passkey: type === 'passkey' ? challenge : passkey,
    },
  };
}

/** What the service says about a right code that was used before. */
export const usedCodeMessage = (error: unknown): string | undefined =>
  error instanceof ProblemError ? error.errors.find(({ code }) => code === 'code_used')?.message : undefined;

/** Whether a refusal says that the secret was wrong, unlike a lock, a limit or a failure. */
export function isWrongSecret(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 400 && !isTemporary(error);
}
