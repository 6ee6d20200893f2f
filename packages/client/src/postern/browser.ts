import { isHidden, onPageEvent, platform, type Unsubscribe } from '../platform.js';
import type { DeviceDescription } from '../types.js';

/** The description of the device that the browser gives. */
export function deviceOfBrowser(): DeviceDescription {
  const { navigator, screen } = platform();
  const os = navigator?.userAgentData?.platform ?? navigator?.platform;
  return { ...(os && { os_name: os }), ...(screen && { screen_width: screen.width, screen_height: screen.height }) };
}

/** Calls `wake` when the page is visible or online again. */
export function onResumeOfPage(wake: () => void): Unsubscribe {
  const listener = () => isHidden() || wake();
  const ends = ['visibilitychange', 'pageshow', 'online'].map((type) => onPageEvent(type, listener));
  return () => {
    for (const end of ends) end();
  };
}
