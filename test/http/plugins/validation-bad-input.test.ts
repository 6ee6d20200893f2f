import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  type BadRequests,
  createBadRequests,
  expectRefusal,
  type Known,
  noLimits,
  type Route,
} from '../../support/bad-requests.js';

let postern: TestApp;
let bad: BadRequests;
let known: Known;
beforeAll(async () => {
  postern = await startTestApp(noLimits);
  bad = createBadRequests(postern);
  known = await bad.createKnown();
});
afterAll(() => postern.close());

const withBody: readonly Route[] = [
  ['nobody', 'POST', '/v1/tokens'],
  ['nobody', 'POST', '/v1/tokens/{authentication}/secret'],
  ['admin', 'POST', '/admin/v1/users'],
  ['admin', 'PATCH', '/admin/v1/users/{user}'],
  ['admin', 'POST', '/admin/v1/users/{user}/lock'],
  ['admin', 'POST', '/admin/v1/notifications'],
  ['admin', 'PATCH', '/admin/v1/notifications/{notification}'],
  ['admin', 'POST', '/admin/v1/images'],
  ['session', 'POST', '/v1/images'],
  ['admin', 'POST', '/admin/v1/keys'],
  ['session', 'PATCH', '/v1/account'],
  ['session', 'DELETE', '/v1/account'],
  ['session', 'POST', '/v1/account/proofs'],
  ['session', 'PUT', '/v1/account/password'],
  ['session', 'PUT', '/v1/account/pin'],
  ['session', 'POST', '/v1/account/email'],
  ['session', 'POST', '/v1/account/phone/{authentication}'],
  ['nobody', 'POST', '/v1/recoveries'],
  ['nobody', 'POST', '/v1/recoveries/{authentication}'],
  ['nobody', 'POST', '/v1/registrations'],
  ['nobody', 'POST', '/v1/registrations/{authentication}'],
];
const withoutBody: readonly Route[] = [
  ['token', 'POST', '/v1/sessions'],
  ['token', 'DELETE', '/v1/tokens'],
  ['session', 'POST', '/v1/sessions/verify'],
  ['session', 'DELETE', '/v1/tokens/{authentication}'],
  ['admin', 'POST', '/admin/v1/users/{user}/unlock'],
  ['admin', 'POST', '/admin/v1/users/{user}/logout'],
  ['admin', 'DELETE', '/admin/v1/users/{user}'],
  ['admin', 'DELETE', '/admin/v1/notifications/{notification}'],
];
/** The maximum size of a JSON body in KiB, if it is not 64. */
const limits: Readonly<Record<string, number>> = {
  ...{ '/admin/v1/notifications': 4096, '/admin/v1/images': 7168, '/v1/images': 7168 },
};
const json = { 'Content-Type': 'application/json' };

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
const malformed: readonly (readonly [string, string | Buffer])[] = [
  ['an opening brace', '{'],
  ['only blanks', '  '],
  ['trailing garbage', '{} x'],
  ['two texts', '{}{}'],
  ['a trailing comma', '{"a":1,}'],
  ['single quotes', "{'a':1}"],
  ['a comment', '{} // ok'],
  ['NaN', '{"a":NaN}'],
  ['a hexadecimal number', '{"a":0x10}'],
  ['a leading zero', '{"a":01}'],
  ['an unfinished string', '{"a":"b}'],
  ['a raw newline in a string', '{"a":"b\n"}'],
  ['a raw NUL', '{"a":"\0"}'],
  ['an unknown escape', '{"a":"\\x41"}'],
  ['a form', 'a=b&c=d'],
  ['bytes that are no UTF-8', Buffer.from('{"a":"\xff\xfe"}', 'latin1')],
  ['an overlong encoding', Buffer.from('{"a":"\xc0\x80"}', 'latin1')],
  ['an encoded surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1')],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['33 levels of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['33 levels of arrays', nested(33, '[', ']')],
  ['very many levels', nested(30_000, '[', ']')],
];

describe.each([...withBody, ...withoutBody])('for %s, %s %s', (...route) => {
  // A separate user, because a body that is not refused could delete it.
  beforeAll(async () => {
    known = await bad.createKnown();
  });

  test.each(malformed)('%s gets 400', async (_, body) => {
    expectRefusal(
      await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body })),
      400,
      'malformed_json',
    );
  });

  test.each([
    ['NUL', '{"a":"x\\u0000y"}'],
    ['a lone high surrogate', '{"a":["\\ud83d"]}'],
    ['a lone low surrogate', '{"a":{"b":"\\uDE00x"}}'],
    ['surrogates the wrong way round', '{"a":"\\uDE00\\ud83d"}'],
    ['NUL in a key', '{"\\u0000":1}'],
  ])('%s, escaped, gets 422', async (_, body) => {
    expectRefusal(
      await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body })),
      422,
      'invalid_characters',
    );
  });

  test.each([
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      '*/*',
      'json',
      'x/',
    ],
    ...['application/jsonx', 'application/problem+json', 'text/json', 'application/json; charset=latin1'],
    ...[
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'application/json, text/plain',
    ],
  ])('the content type %s gets 415', async (type) => {
    // These routes parse a form, and this is none.
    const [status, code] =
      type.startsWith('multipart/') && route[2].endsWith('/images')
        ? ([400, 'malformed_request'] as const)
        : ([415, 'unsupported_media_type'] as const);
    const sent = { headers: { 'Content-Type': type }, body: '{}' };
    expectRefusal(await bad.expectNoChange(() => bad.ask(known, route, sent)), status, code);
  });

  test('a body without a content type gets 415', async () => {
    const answer = await bad.expectNoChange(() => bad.ask(known, route, { body: Buffer.from('{}') }));
    expectRefusal(answer, 415, 'unsupported_media_type');
  });

  test.each(['gzip', 'br', 'identity, gzip', 'x'])('the content encoding %s gets 415', async (encoding) => {
    const sent = { headers: { ...json, 'Content-Encoding': encoding }, body: '{}' };
    expectRefusal(await bad.expectNoChange(() => bad.ask(known, route, sent)), 415, 'unsupported_media_type');
  });

  test.each(['with', 'without'])('a body beyond the limit gets 413, %s a Content-Length', async (how) => {
    const limit = (limits[route[2]] ?? 64) * 1024;
    const text = Buffer.from(JSON.stringify({ a: 'x'.repeat(limit) }));
    const body = how === 'with' ? text : new Response(text).body;
    if (body === null) throw new Error('no stream');
    expectRefusal(
      await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body })),
      413,
      'payload_too_large',
    );
  });
});

describe.each(withBody)('for %s, %s %s', (...route) => {
  test.each(['[]', '"x"', '1', 'null', 'true', '[[]]', '[null]', '["x"]'])(
    '%s instead of an object gets 422',
    async (body) => {
      expectRefusal(await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body })), 422);
    },
  );
});

test('a byte order mark gets 400 (RFC 8259, 8.1)', async () => {
  const act = () => bad.ask(known, ['nobody', 'POST', '/v1/tokens'], { headers: json, body: '\ufeff{}' });
  expectRefusal(await bad.expectNoChange(act), 400, 'malformed_json');
});

test('the service logs no internal error for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
});
