import { platform, type TabChannel } from '../platform.js';

/** Notifies other tabs when the login changes, and receives their notifications. These contain no token. */
export function createTabs(name: string, isOn: boolean, onChange: () => void) {
  let channel: TabChannel | undefined;
  return {
    open() {
      const { BroadcastChannel } = platform();
      if (!isOn || BroadcastChannel === undefined || channel !== undefined) return;
      channel = new BroadcastChannel(name);
      channel.onmessage = onChange;
      channel.unref?.();
    },
    notify: () => channel?.postMessage('login'),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
