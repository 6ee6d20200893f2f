import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  type BadRequests,
  createBadRequests,
  expectRefusal,
  type Known,
  noLimits,
  type Route,
  type Sent,
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

/** Bad inputs of one kind, by a name, with the status and the code of the answer. */
interface BadInputs {
  readonly status: number;
  readonly code?: string;
  readonly of: readonly (readonly [name: string, sent: () => Sent])[];
  /** Whether the kind applies to a route. The default: to all. */
  readonly appliesTo?: (route: Route) => boolean;
}

const jsonOf = (body: string | Buffer) => () => ({ headers: json, body });
const named = (of: Readonly<Record<string, string | Buffer>>) =>
  Object.entries(of).map(([name, body]) => [name, jsonOf(body)] as const);
const typed = (...types: readonly string[]) =>
  types.map((type) => [`the content type ${type}`, () => ({ headers: { 'Content-Type': type }, body: '{}' })] as const);
const isForm = (route: Route) => route[2].endsWith('/images');
const tooLarge = (route: Route) => Buffer.from(JSON.stringify({ a: 'x'.repeat((limits[route[2]] ?? 64) * 1024) }));

const kinds = (route: Route): readonly BadInputs[] => [
  {
    ...{ status: 400, code: 'malformed_json' },
    of: named({
      'an opening brace': '{',
      'only blanks': '  ',
      'trailing garbage': '{} x',
      'two texts': '{}{}',
      'a trailing comma': '{"a":1,}',
      'single quotes': "{'a':1}",
      'a comment': '{} // ok',
      NaN: '{"a":NaN}',
      'a hexadecimal number': '{"a":0x10}',
      'a leading zero': '{"a":01}',
      'an unfinished string': '{"a":"b}',
      'a raw newline in a string': '{"a":"b\n"}',
      'a raw NUL': '{"a":"\0"}',
      'an unknown escape': '{"a":"\\x41"}',
      'a form': 'a=b&c=d',
      'bytes that are no UTF-8': Buffer.from('{"a":"\xff\xfe"}', 'latin1'),
      'an overlong encoding': Buffer.from('{"a":"\xc0\x80"}', 'latin1'),
      'an encoded surrogate': Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'),
      'UTF-16': Buffer.from('{"a":1}', 'utf16le'),
      'a byte order mark (RFC 8259, 8.1)': '\ufeff{}',
      '33 levels of objects': `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`,
      '33 levels of arrays': nested(33, '[', ']'),
      'very many levels': nested(30_000, '[', ']'),
    }),
  },
  {
    ...{ status: 422, code: 'invalid_characters' },
    of: named({
      'an escaped NUL': '{"a":"x\\u0000y"}',
      'an escaped high surrogate alone': '{"a":["\\ud83d"]}',
      'an escaped low surrogate alone': '{"a":{"b":"\\uDE00x"}}',
      'escaped surrogates the wrong way round': '{"a":"\\uDE00\\ud83d"}',
      'an escaped NUL in a key': '{"\\u0000":1}',
    }),
  },
  {
    ...{ status: 415, code: 'unsupported_media_type' },
    of: [
      ...typed('text/plain', 'application/x-www-form-urlencoded', 'application/xml', '*/*', 'json', 'x/'),
      ...typed('application/jsonx', 'application/problem+json', 'text/json', 'application/json, text/plain'),
      ...typed('application/json; charset=latin1', 'application/json; charset=utf-16'),
      ...typed('application/json; charset=utf-8; charset=latin1'),
      ['no content type', () => ({ body: Buffer.from('{}') })],
    ],
  },
  {
    // These routes parse a form, and this is none.
    ...(isForm(route) ? { status: 400, code: 'malformed_request' } : { status: 415, code: 'unsupported_media_type' }),
    of: typed('multipart/form-data; boundary=x'),
  },
  {
    ...{ status: 415, code: 'unsupported_media_type' },
    of: ['gzip', 'br', 'identity, gzip', 'x'].map((encoding) => [
      `the content encoding ${encoding}`,
      () => ({ headers: { ...json, 'Content-Encoding': encoding }, body: '{}' }),
    ]),
  },
  {
    ...{ status: 413, code: 'payload_too_large' },
    of: [
      ['a body beyond the limit with a Content-Length', () => ({ headers: json, body: tooLarge(route) })],
      ['a body beyond the limit without a Content-Length', () => ({ headers: json, body: streamOf(tooLarge(route)) })],
    ],
  },
  {
    status: 422,
    of: named(Object.fromEntries(['[]', '"x"', '1', 'null', 'true', '[[]]', '[null]', '["x"]'].map((it) => [it, it]))),
    appliesTo: (it) => withBody.includes(it),
  },
];

function streamOf(bytes: Buffer): ReadableStream {
  const { body } = new Response(bytes);
  if (body === null) throw new Error('no stream');
  return body;
}

/** One route meets all bad inputs. Each other route meets one of each kind, another one than the routes before it. */
const cases = [...withBody, ...withoutBody].flatMap((route, index) =>
  kinds(route)
    .filter(({ appliesTo = () => true }) => appliesTo(route))
    .flatMap(({ status, code, of }) =>
      (index === 0 ? of : of.slice(index % of.length).slice(0, 1)).map(([name, sent]) => ({
        ...{ route, name, sent, status, code },
        title: `${name} gets ${status} from ${route.join(' ')}`,
      })),
    ),
);

describe('a request with bad input changes nothing', () => {
  test.each(cases)('$title', async ({ route, sent, status, code }) => {
    // A separate user, because a body that is not refused could delete it.
    const own = route[1] === 'DELETE' ? await bad.createKnown() : known;
    expectRefusal(await bad.expectNoChange(() => bad.ask(own, route, sent())), status, code);
  });
});

test('the service logs no internal error for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
});
