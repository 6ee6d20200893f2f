import { describe, expect, it, onTestFinished } from 'vitest';
import { createImageDownload } from '../../src/delivery/image-download.js';
import { createOutbound, type OutboundOptions } from '../../src/delivery/outbound.js';
import { checkTargetUrl } from '../../src/delivery/outbound-guard.js';
import { errorsOf } from '../support/inbox.js';
import { startHttp } from './local-server.js';

function downloadWith(options: Partial<OutboundOptions> = {}) {
  const all = { allowPrivateNetworkTargets: false, ...options };
  const outbound = createOutbound(all);
  onTestFinished(() => outbound.close());
  return createImageDownload(outbound, (url) => checkTargetUrl(url, all));
}

describe('an image download', () => {
  it('returns the bytes of an answer with the status 200', async () => {
    const host = await startHttp((_request, response) => response.end('bytes'));
    const download = downloadWith({ allowPrivateNetworkTargets: true });
    expect((await download(`${host.url}/a`)).toString()).toBe('bytes');
    expect(host.received[0]?.headers).toMatchObject({ accept: 'image/*', 'accept-encoding': 'identity' });
  });

  it('accepts a response of 5 MiB and refuses a response that is one byte longer', async () => {
    const host = await startHttp((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
    const download = downloadWith({ allowPrivateNetworkTargets: true });
    expect((await download(`${host.url}/5242880`)).length).toBe(5_242_880);
    expect(await errorsOf(download(`${host.url}/5242881`))).toEqual([
      { field: 'url', code: 'too_many_bytes', params: { max: 5_242_880 } },
    ]);
  });

  it.each([
    ['http://images.example.com/', 'the scheme must be https'],
    ['https://10.0.0.1/', 'the address is not public'],
    ['https://[::ffff:127.0.0.1]/', 'the address is not public'],
    ['https://2130706433/', 'the address is not public'],
    ['https://images.example.com:22/', 'the port must be 443 or at least 1024'],
  ])('reports what is wrong with the URL %s', async (url, reason) => {
    expect(await errorsOf(downloadWith()(url))).toEqual([{ field: 'url', code: 'invalid_url', params: { reason } }]);
  });

  it('answers the same for a name with a private address, an unknown name and an unreachable host', async () => {
    const answers = [
      downloadWith({ resolve: async () => ['10.0.0.1'] }),
      downloadWith({ resolve: async () => ['93.184.216.34', '127.0.0.1'] }),
      downloadWith({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }),
      downloadWith({ resolve: () => new Promise(() => undefined), connectTimeoutMs: 50 }),
    ];
    for (const download of answers) {
      const errors = await errorsOf(download('https://inner.example.com/a.jpg'));
      expect(errors).toEqual([{ field: 'url', code: 'unreachable_url' }]);
    }
  });
});
