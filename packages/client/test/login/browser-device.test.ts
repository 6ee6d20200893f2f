import { afterEach, expect, test, vi } from 'vitest';
import { deviceOfBrowser } from '../../src/login/browser-device.js';

afterEach(() => vi.unstubAllGlobals());

const like = 'KHTML, like Gecko';
test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (${like}) Chrome/140.0.0.0 Safari/537.36`, 'Chrome', 'Linux'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (${like}) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
    'Edge',
    'Windows',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox', 'Windows'],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (${like}) Version/18.1 Safari/605.1.15`,
    'Safari',
    'macOS',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (${like}) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`,
    'Chrome',
    'iOS',
  ],
  [
    `Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (${like}) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet',
    'Android',
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (${like}) Chrome/140.0.0.0 Safari/537.36 OPR/124.0`,
    'Opera',
    'ChromeOS',
  ],
])('%s is %s on %s', (userAgent, model, os_name) => {
  vi.stubGlobal('navigator', { userAgent, platform: 'x' });
  expect(deviceOfBrowser()).toEqual({ model, os_name });
});

test('the system that the browser names counts, and a program that is no browser has no model', () => {
  vi.stubGlobal('navigator', { userAgent: 'Node.js/24', platform: 'linux' });
  expect(deviceOfBrowser()).toEqual({ os_name: 'linux' });
  vi.stubGlobal('navigator', { userAgent: 'Chrome/140 Linux', userAgentData: { platform: 'Android' } });
  expect(deviceOfBrowser()).toEqual({ model: 'Chrome', os_name: 'Android' });
  vi.stubGlobal('navigator', undefined);
  expect(deviceOfBrowser()).toEqual({});
});
