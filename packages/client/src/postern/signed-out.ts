import type { Core } from '../core.js';
import { platform } from '../platform.js';
import { revokeKey } from './login-storage.js';

/** The server of this page knows from a backend that nobody is signed in, so the client need not ask. */
export function startSignedOut({ usesBackend, held, tabs, marks }: Core): void {
  // On a server, the users of all requests share the client.
  if (!usesBackend || !platform().document || held.loading || held.state.current.status !== 'starting') return;
  tabs.open();
  void marks.delete(revokeKey);
  held.set(undefined, 'never_signed_in');
}
