import { request } from './client.js';
import { signChallenge } from './passkeys.js';
import type {
  ActivateRoleData,
  ConfirmTotpData,
  ConfirmTotpResponse,
  CreatePasskeyData,
  CreateSessionData,
  CreateSessionResponse,
  Proof,
  StartPasskeyData,
  StartPasskeyResponse,
  StartProofData,
  StartProofResponse,
  StartTotpData,
  StartTotpResponse,
} from './schema.js';
import type { SetUpFactor } from './set-up.js';

/** The session of an existing user who activates a role. It is not the console's. */
export type EnrolmentAuthorization = `Bearer ${string}`;

/** A session for the authentication token of a login. */
export async function openSession(token: string): Promise<EnrolmentAuthorization> {
  const call = { authorization: `Basic ${btoa(token)}` } as const;
  const session = await request<CreateSessionData, CreateSessionResponse>('POST', '/v1/sessions', call);
  return `Bearer ${session.token}`;
}

/** Starts to enrol a factor, which activates the role of the link. */
export async function startEnrolment(
  authorization: EnrolmentAuthorization,
  kind: 'totp' | 'passkey',
  input: { readonly password: string; readonly secret: string },
): Promise<SetUpFactor> {
  const body = { proof: { type: 'password', secret: input.password }, enrollment_secret: input.secret } as const;
  if (kind === 'totp') {
    const { id, expires_at, secret, uri } = await request<StartTotpData, StartTotpResponse>(
      'POST',
      '/v1/account/totp',
      { authorization, body },
    );
    return { id, expires_at, totp: { secret, uri } };
  }
  const passkeyStart = await request<StartPasskeyData, StartPasskeyResponse>('POST', '/v1/account/passkeys', {
    authorization,
    body,
  });
  return { id: passkeyStart.id, expires_at: passkeyStart.expires_at, passkey: { options: passkeyStart.options } };
}

/** @returns the recovery codes, if they are new */
export async function finishEnrolment(
  authorization: EnrolmentAuthorization,
  id: string,
  proof: { readonly code?: string; readonly response?: Record<string, unknown> },
): Promise<readonly string[]> {
  const path = { id };
  if (proof.response !== undefined) {
    const call = { authorization, path, body: { response: proof.response } };
    await request<CreatePasskeyData, unknown>('POST', '/v1/account/passkeys/{id}', call);
    return [];
  }
  const call = { authorization, path, body: { secret: proof.code ?? '' } };
  const answer = await request<ConfirmTotpData, ConfirmTotpResponse>('POST', '/v1/account/totp/{id}', call);
  return answer.recovery_codes ?? [];
}

/** Activates the role of the link with a factor that the user has. Without a code: with a passkey. */
export async function activateRole(
  authorization: EnrolmentAuthorization,
  secret: string,
  code?: string,
): Promise<void> {
  const proof: Proof = code === undefined ? await passkeyProof(authorization) : { type: 'totp', secret: code };
  const call = { authorization, body: { enrollment_secret: secret, proof } };
  await request<ActivateRoleData, unknown>('POST', '/v1/account/role', call);
}

async function passkeyProof(authorization: EnrolmentAuthorization): Promise<Proof> {
  const call = { authorization, body: { type: 'passkey' } } as const;
  const { id, challenge } = await request<StartProofData, StartProofResponse>('POST', '/v1/account/proofs', call);
  return { type: 'passkey', id, secret: await signChallenge(challenge) };
}
