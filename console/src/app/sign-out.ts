import { request, session } from '../api/client.js';
import type { LogOutEverywhereData, LogOutEverywhereResponse } from '../api/schema.js';

const tabs = new BroadcastChannel('postern-console');

/** Signs out here, and in all tabs of this browser. */
export async function signOut(): Promise<void> {
  await session.end();
  tabs.postMessage('signed-out');
}

/** Ends the other logins of the operator. @returns how many have ended */
export async function signOutElsewhere(): Promise<number> {
  const url = '/v1/account/logout-everywhere';
  return (await request<LogOutEverywhereData, LogOutEverywhereResponse>('POST', url)).ended;
}

/** Follows a sign-out in another tab. @returns the function that stops it */
export function followSignOut(): () => void {
  const onMessage = ({ data }: MessageEvent) => {
    if (data === 'signed-out') session.forget();
  };
  tabs.addEventListener('message', onMessage);
  return () => tabs.removeEventListener('message', onMessage);
}
