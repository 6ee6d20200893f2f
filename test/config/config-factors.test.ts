import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { errorsOf } from '../support/config.js';

const androidOrigin = `android:apk-key-hash:${'A'.repeat(43)}`;

describe('SECOND_FACTOR_BY_ROLE', () => {
  test('is a policy for each listed role, and empty by default', () => {
    expect(readConfig({}).SECOND_FACTOR_BY_ROLE).toBeUndefined();
    expect(readConfig({ SECOND_FACTOR_BY_ROLE: 'support:required, operator:off' }).SECOND_FACTOR_BY_ROLE).toEqual({
      support: 'required',
      operator: 'off',
    });
  });

  test('takes roles of the app, whose names may contain colons and be those of inherited members', () => {
    const text = 'billing:admin:required,__proto__:own,constructor:off';
    expect(Object.entries(readConfig({ SECOND_FACTOR_BY_ROLE: text }).SECOND_FACTOR_BY_ROLE ?? {})).toEqual([
      ['billing:admin', 'required'],
      ['__proto__', 'own'],
      ['constructor', 'off'],
    ]);
  });

  test.each(['support', 'support:', 'support:maybe', 'Admin:off', 'user:own,user:off', 'a b:off'])(
    'cannot be %s',
    (text) => {
      expect(errorsOf({ SECOND_FACTOR_BY_ROLE: text })).toEqual([
        'SECOND_FACTOR_BY_ROLE must be different roles with a policy each, such as operator:required',
      ]);
    },
  );
});

describe('passkeys', () => {
  test('accept origins of pages and of apps', () => {
    const env = { PASSKEY_RP_ID: 'example.com', PASSKEY_ORIGINS: `https://app.example.com, ${androidOrigin}` };
    expect(readConfig(env).PASSKEY_ORIGINS).toEqual(['https://app.example.com', androidOrigin]);
    for (const text of [
      'https://app.example.com/',
      'app.example.com',
      `${androidOrigin}=`,
      'android:apk-key-hash:AAAA',
      '',
    ]) {
      const errors = errorsOf({ PASSKEY_RP_ID: 'example.com', PASSKEY_ORIGINS: `${text},` });
      expect(errors).toEqual([expect.stringContaining('PASSKEY_ORIGINS must be origins such as')]);
    }
  });

  test('accept the pages of apps and of extensions of browsers', () => {
    const list =
      'capacitor://localhost,ionic://localhost,tauri://localhost,chrome-extension://abcdefghijklmnop,app://my.app:8080';
    const id = { PASSKEY_RP_ID: 'example.com' };
    expect(readConfig({ ...id, PASSKEY_ORIGINS: list }).PASSKEY_ORIGINS).toEqual(list.split(','));
    expect(readConfig({ CORS_ORIGINS: list }).CORS_ORIGINS).toEqual(list.split(','));
    expect(errorsOf({ DPOP_ORIGINS: 'capacitor://localhost' })).toEqual([expect.stringContaining('DPOP_ORIGINS must')]);
  });

  test.each([
    ['https://app.example.com', 1],
    ['https://app.example.com,https://example.com', 0],
  ])('PASSKEY_ORIGINS=%s with pages at https://example.com: %i warnings', (PASSKEY_ORIGINS, count) => {
    const env = {
      PUBLIC_URL: 'https://example.com',
      PAGES: 'on',
      REDIRECT_URIS: 'https://app.example.com/',
      PASSKEY_ORIGINS,
    };
    const { warnings } = readConfig(env);
    expect(warnings.filter((text) => text.startsWith('PASSKEY_ORIGINS does not have'))).toHaveLength(count);
  });

  test.each(['PASSKEY_ORIGINS', 'CORS_ORIGINS', 'DPOP_ORIGINS'])('%s has no wildcards', (name) => {
    for (const text of ['*', 'https://*.example.com', 'capacitor://*', 'https://app.example.com, https://*']) {
      const errors = errorsOf({ PASSKEY_RP_ID: 'example.com', [name]: text });
      expect(errors).toEqual([`${name} must name each origin: a * matches nothing`]);
    }
  });

  test.each(['PASSKEY_ORIGINS', 'CORS_ORIGINS'])('%s has no other texts', (name) => {
    for (const text of [
      ...['capacitor://localhost/', 'capacitor:localhost', 'capacitor://', 'Capacitor://localhost', 'capacitor://a b'],
      ...[
        'file://localhost',
        'data://x',
        'null',
        'https://app.example.com:443',
        'ws://app.example.com',
        'capacitor://a?b',
      ],
    ]) {
      const errors = errorsOf({ PASSKEY_RP_ID: 'example.com', [name]: text });
      expect(errors).toEqual([expect.stringContaining(`${name} must be origins such as`)]);
    }
  });

  test('require a domain that contains their origins', () => {
    const publicUrl = { PUBLIC_URL: 'https://auth.example.com' };
    for (const id of ['example.com', 'auth.example.com']) {
      expect(errorsOf({ ...publicUrl, PASSKEY_RP_ID: id })).toEqual([]);
    }
    for (const id of ['example.org', 'h.example.com', 'ample.com']) {
      expect(errorsOf({ ...publicUrl, PASSKEY_RP_ID: id })).toEqual([
        'PASSKEY_RP_ID must be the host of PUBLIC_URL or a domain above it, or PASSKEY_ORIGINS must be set',
      ]);
    }
    expect(errorsOf({ PASSKEY_ORIGINS: androidOrigin })).toEqual([
      'PASSKEY_RP_ID or PUBLIC_URL is required with PASSKEY_ORIGINS',
    ]);
    for (const id of ['https://example.com', 'example.com:443', 'Example.com', '.example.com']) {
      expect(errorsOf({ PASSKEY_RP_ID: id })[0]).toContain('PASSKEY_RP_ID must be a domain');
    }
  });
});

describe('LOGIN_METHODS', () => {
  test('lists the open ways to log in, and is unset by default', () => {
    expect(readConfig({}).LOGIN_METHODS).toBeUndefined();
    expect(readConfig({ LOGIN_METHODS: 'password, passkey' }).LOGIN_METHODS).toEqual(['password', 'passkey']);
  });

  test.each([',', 'pasword', 'password,', 'oidc:', 'custom:Badge'])('cannot be %j', (text) => {
    expect(errorsOf({ LOGIN_METHODS: text })).toEqual([expect.stringContaining('LOGIN_METHODS has the unknown name')]);
  });

  test('names only configured providers and services', () => {
    expect(errorsOf({ LOGIN_METHODS: 'password,oidc:google' })).toEqual([
      'LOGIN_METHODS: oidc:google is not configured',
    ]);
    const OIDC_PROVIDERS = JSON.stringify({ github: { preset: 'github', client_id: 'c', client_secret: 's' } });
    expect(readConfig({ LOGIN_METHODS: 'oauth:github', OIDC_PROVIDERS }).LOGIN_METHODS).toEqual(['oauth:github']);
    expect(errorsOf({ LOGIN_METHODS: 'oidc:github', OIDC_PROVIDERS })).toEqual([
      'LOGIN_METHODS: oidc:github is not configured',
    ]);
  });
});
