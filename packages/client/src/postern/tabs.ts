import { platform, type TabChannel } from '../platform.js';

/** Tells other tabs that the login changed, and hears it from them. No token travels. */
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
    tell: () => channel?.postMessage('login'),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
