import type { Core } from '../core.js';
import { CancelledError } from '../errors.js';
import { beginRedirect, findReturn, forget, type RedirectOptions } from '../login/redirects.js';
import { type Abortable, platform, throwIfAborted } from '../platform.js';
import type { ExternalIdentity, StartedExternalIdentity, StartedProof } from '../wire.js';
import { type AccountOperation, type Proof, proofOf } from './proof.js';

/** Sends the browser to a provider, to link an account there. @param start sends the request that begins it, with a proof */
export async function link(
  core: Core,
  provider: string,
  { redirectTo, open, signal }: RedirectOptions & Abortable,
  start: (body: object) => Promise<StartedExternalIdentity>,
): Promise<ExternalIdentity | null> {
  const departure = await beginRedirect(core, 'link', provider, { redirectTo, open }, start);
  const address = await departure.leave();
  if (address === null) throw new CancelledError();
  return address === undefined ? null : resumeLink(core, address, { signal });
}

/** The links that are completed at present, by their clients. */
const links = new WeakMap<Core, { readonly address: string; readonly link: Promise<ExternalIdentity | null> }>();

/**
 * Completes a link after the browser has come back. Null if this browser did not begin one. Parallel calls, such as the double effects of
 * React, share the answer.
 */
export async function resumeLink(
  core: Core,
  address = platform().location?.href ?? '',
  { signal }: Abortable = {},
): Promise<ExternalIdentity | null> {
  const current = links.get(core);
  // The link can be completed once only, so no signal of one caller ends it.
  const link =
    current?.address === address ? current.link : completeLink(core, address).finally(() => links.delete(core));
  links.set(core, { address, link });
  const linked = await link;
  throwIfAborted(signal);
  return linked;
}

async function completeLink(core: Core, address: string): Promise<ExternalIdentity | null> {
  const found = await findReturn(core, 'link', address);
  if (found === undefined) return null;
  const { id, name } = found;
  await forget(core, id);
  const path = `/v1/account/external-identities/${encodeURIComponent(name)}/${id}`;
  return core.call({ method: 'POST', path, body: { secret: found.secret() } });
}

/** A proof from a provider, after the browser has come back. */
export interface ResumedProof {
  /** The operation that the user had begun. */
  readonly operation: AccountOperation;
  /** Valid for five minutes, on this device. */
  readonly proof: Proof<'provider'>;
}

/** Sends the browser to a provider, where the user logs in again. */
export async function proveAt(
  core: Core,
  operation: AccountOperation,
  provider: string,
  { signal, ...options }: RedirectOptions & Abortable = {},
): Promise<Proof<'provider'> | null> {
  const start = (body: object) =>
    core.call<StartedProof>({
      method: 'POST',
      path: '/v1/account/proofs',
      signal,
      expects: 'id',
      body: { type: 'provider', provider, ...body },
    });
  const purpose = operation === 'step_up' ? operation : 'proof';
  const departure = await beginRedirect(core, purpose, provider, options, start, operation);
  const address = await departure.leave();
  if (address === null) throw new CancelledError();
  return address === undefined ? null : ((await resumeProof(core, address, purpose))?.proof ?? null);
}

/** Returns the proof after the browser has come back. Null if this browser did not begin one. */
export async function resumeProof(
  core: Core,
  address = platform().location?.href ?? '',
  purpose: 'proof' | 'step_up' = 'proof',
): Promise<ResumedProof | null> {
  const found = await findReturn(core, purpose, address);
  if (found?.operation === undefined) return null;
  const { id, operation } = found;
  await forget(core, id);
  return { operation: operation as AccountOperation, proof: proofOf('provider', found.secret(), id) };
}
