import { session } from '../api/client.js';

const tabs = new BroadcastChannel('postern-console');

/** Signs out here, and in all tabs of this browser. */
export async function signOut(): Promise<void> {
  await session.end();
  tabs.postMessage('signed-out');
}

/** Follows a sign-out in another tab. @returns the function that stops it */
export function followSignOut(): () => void {
  const onMessage = ({ data }: MessageEvent) => {
    if (data === 'signed-out') session.forget();
  };
  tabs.addEventListener('message', onMessage);
  return () => tabs.removeEventListener('message', onMessage);
}
