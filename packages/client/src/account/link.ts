import type { Core } from '../core.js';
import { CancelledError } from '../errors.js';
import { beginRedirect, findReturn, forget, type RedirectOptions } from '../login/redirects.js';
import { type Abortable, platform } from '../platform.js';
import type { ExternalIdentity, StartedExternalIdentity } from '../wire.js';

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

/** Completes the link with which the browser has come back. Null if this browser did not begin one. */
export async function resumeLink(
  core: Core,
  address = platform().location?.href ?? '',
  { signal }: Abortable = {},
): Promise<ExternalIdentity | null> {
  const found = await findReturn(core, 'link', address);
  if (found === undefined) return null;
  const { id, name } = found;
  await forget(core, id);
  const path = `/v1/account/external-identities/${encodeURIComponent(name)}/${id}`;
  return core.call({ method: 'POST', path, body: { secret: found.secret() }, signal });
}
