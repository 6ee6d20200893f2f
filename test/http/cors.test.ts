import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ CORS_ORIGINS: 'https://app.example.com' });
});
afterAll(() => postern.close());

const preflight = (url: string, origin: string) =>
  fetch(`${url}/v1/sessions`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, idempotency-key',
    },
  });

describe('pages of other origins', () => {
  test('may call when their origin is configured, and see the headers that they need', async () => {
    const origin = 'https://app.example.com';
    const asked = await preflight(postern.url, origin);
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization, idempotency-key');
    expect(asked.headers.get('access-control-allow-methods')).toContain('DELETE');
    const { headers } = await fetch(`${postern.url}/livez`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    for (const name of ['Link', 'X-Total-Count', 'Request-ID', 'ETag', 'Retry-After', 'Idempotency-Key']) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  });

  test('may not otherwise, and nobody may by default', async () => {
    const other = await preflight(postern.url, 'https://evil.example');
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const closed = await startTestApp();
    try {
      const asked = await preflight(closed.url, 'https://app.example.com');
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
      const { headers } = await fetch(`${closed.url}/livez`, { headers: { origin: 'https://app.example.com' } });
      expect(headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await closed.close();
    }
  });
});
