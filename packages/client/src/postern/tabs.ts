import { onPageEvent, platform, type TabChannel } from '../platform.js';

/**
 * What happened to the login: a login, a new token, or the reason of its end. `preferences` is for changes of preferences, in a separate
 * channel.
 */
export type TabEvent = 'login' | 'token' | 'logged_out' | 'ended' | 'preferences';

/** Notifies other tabs when the login changes, and receives their notifications. These contain no token. */
export function createTabs(name: string, isOn: boolean, onEvent: (event: TabEvent) => void) {
  let channel: TabChannel | undefined;
  let isOpen = false;
  let removeListener = () => {};
  return {
    isOn,
    open() {
      const { BroadcastChannel } = platform();
      if (!isOn || BroadcastChannel === undefined || isOpen) return;
      isOpen = true;
      try {
        channel = new BroadcastChannel(name);
        channel.onmessage = ({ data }: { readonly data: TabEvent }) => onEvent(data);
        channel.unref?.();
      } catch {
        // Firefox refuses a channel where the page may not store anything.
      }
      // While a page is in the cache of the browser, it gets no messages.
      removeListener = onPageEvent('pageshow', ({ persisted }) => persisted && onEvent('login'));
    },
    notify: (event: TabEvent) => channel?.postMessage(event),
    close() {
      removeListener();
      channel?.close();
      channel = undefined;
    },
  };
}
