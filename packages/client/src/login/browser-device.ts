import { platform } from '../platform.js';
import type { DeviceDescription } from '../types.js';

/** By the word that only this browser has in its user agent: most of them also name others. */
const browsers = [
  [/\bEdg/, 'Edge'],
  [/\bOPR/, 'Opera'],
  [/\bSamsungB/, 'Samsung Internet'],
  [/\bF(irefox|xiOS)/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/\bSafari/, 'Safari'],
] as const;
const systems = [
  [/\bAndroid/, 'Android'],
  [/\biP(hone|ad)/, 'iOS'],
  [/\bMac OS/, 'macOS'],
  [/\bWindows/, 'Windows'],
  [/\bCrOS/, 'ChromeOS'],
  [/\bLinux/, 'Linux'],
] as const;

/** The description of the device that the browser gives. */
export function deviceOfBrowser(): DeviceDescription {
  const { navigator, screen } = platform();
  const agent = navigator?.userAgent ?? '';
  const nameIn = (names: readonly (readonly [sign: RegExp, name: string])[]) =>
    names.find(([sign]) => sign.test(agent))?.[1];
  const browser = nameIn(browsers);
  const os = navigator?.userAgentData?.platform ?? nameIn(systems) ?? navigator?.platform;
  return {
    ...(browser && { model: browser }),
    ...(os && { os_name: os }),
    ...(screen && { screen_width: screen.width, screen_height: screen.height }),
  };
}
