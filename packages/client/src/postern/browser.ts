import { platform, type Unsubscribe } from '../platform.js';
import type { DeviceDescription } from '../types.js';

/** The description of the device that the browser gives. */
export function deviceOfBrowser(): DeviceDescription {
  const { navigator, screen } = platform();
  const os = navigator?.userAgentData?.platform ?? navigator?.platform;
  return { ...(os && { os_name: os }), ...(screen && { screen_width: screen.width, screen_height: screen.height }) };
}

/** Calls `wake` when the page is visible or online again. */
export function onResumeOfPage(wake: () => void): Unsubscribe {
  const { addEventListener, removeEventListener } = platform();
  const listener = () => {
    if (platform().document?.visibilityState !== 'hidden') wake();
  };
  const events = ['visibilitychange', 'pageshow', 'online'];
  for (const event of events) addEventListener?.call(globalThis, event, listener);
  return () => {
    for (const event of events) removeEventListener?.call(globalThis, event, listener);
  };
}
