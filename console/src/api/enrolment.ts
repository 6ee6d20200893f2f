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
export type Enrolling = `Bearer ${string}`;

/** A session for the authentication token of a login. */
export async function openSession(token: string): Promise<Enrolling> {
  const call = { as: `Basic ${btoa(token)}` } as const;
  const session = await request<CreateSessionData, CreateSessionResponse>('POST', '/v1/sessions', call);
  return `Bearer ${session.token}`;
}

/** Starts to enrol a factor, which activates the role of the link. */
export async function startEnrolment(
  as: Enrolling,
  kind: 'totp' | 'passkey',
  given: { readonly password: string; readonly secret: string },
): Promise<SetUpFactor> {
  const body = { proof: { type: 'password', secret: given.password }, enrollment_secret: given.secret } as const;
  if (kind === 'totp') {
    const { id, expires_at, secret, uri } = await request<StartTotpData, StartTotpResponse>(
      'POST',
      '/v1/account/totp',
      {
        ...{ as, body },
      },
    );
    return { id, expires_at, totp: { secret, uri } };
  }
  const started = await request<StartPasskeyData, StartPasskeyResponse>('POST', '/v1/account/passkeys', { as, body });
  return { id: started.id, expires_at: started.expires_at, passkey: { options: started.options } };
}

/** @returns the recovery codes, if they are new */
export async function finishEnrolment(
  as: Enrolling,
  id: string,
  proof: { readonly code?: string; readonly response?: Record<string, unknown> },
): Promise<readonly string[]> {
  const path = { id };
  if (proof.response !== undefined) {
    const call = { as, path, body: { response: proof.response } };
    await request<CreatePasskeyData, unknown>('POST', '/v1/account/passkeys/{id}', call);
    return [];
  }
  const call = { as, path, body: { secret: proof.code ?? '' } };
  const answer = await request<ConfirmTotpData, ConfirmTotpResponse>('POST', '/v1/account/totp/{id}', call);
  return answer.recovery_codes ?? [];
}

/** Activates the role of the link with a factor that the user has. Without a code: with a passkey. */
export async function activateRole(as: Enrolling, secret: string, code?: string): Promise<void> {
  const proof: Proof = code === undefined ? await passkeyProof(as) : { type: 'totp', secret: code };
  const call = { as, body: { enrollment_secret: secret, proof } };
  await request<ActivateRoleData, unknown>('POST', '/v1/account/role', call);
}

async function passkeyProof(as: Enrolling): Promise<Proof> {
  const call = { as, body: { type: 'passkey' } } as const;
  const { id, challenge } = await request<StartProofData, StartProofResponse>('POST', '/v1/account/proofs', call);
  return { type: 'passkey', id, secret: await signChallenge(challenge) };
}
