import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Simulation } from '../../../../src/contract/simulation.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    ...{ MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'no-reply@example.org' },
    PUBLIC_URL: 'http://localhost:8080',
  });
  const define = async (name: string, body: object) => {
    const { status, text } = await app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body });
    if (status !== 201) throw new Error(text);
  };
  await define('club', {
    steps: [{ channel: 'push' }, { channel: 'email', after: '1h', if: 'unread' }],
    digest: { every: 'daily 09:00' },
    cap: { count: 2, per: '1d', overflow: 'digest' },
    data_schema: { type: 'object', required: ['sum'], properties: { sum: { type: 'number' } } },
  });
  await define('chat', {});
});
afterAll(() => app.close());

const simulate = (name: string, body: object, bearer = app.adminKey) =>
  app.api<Simulation & ProblemAnswer>('POST', `/admin/v1/categories/${name}/simulate`, { bearer, body });
const lines = ({ timeline }: Simulation) =>
  timeline.map(({ at, event, channel, outcome, reason, held_until: until, events }) =>
    [at.slice(5, 16), event, channel, outcome, reason, until?.slice(5, 16), events?.join('+')]
      .filter((part) => part !== undefined)
      .join(' '),
  );
const night = { time_zone: 'Europe/Madrid', quiet_hours: { from: '22:00', until: '07:00' } };

test('shows pushes that quiet hours hold, and that become one', async () => {
  const events = ['20:30', '21:00', '22:00', '23:00'].map((at) => ({ at: `2030-06-03T${at}:00Z` }));
  const { status, body } = await simulate('chat', { now: '2030-06-03T20:00:00Z', preferences: night, events });
  expect(status).toBe(200);
  expect(lines(body)).toEqual([
    ...events.map(({ at }, place) => `${at.slice(5, 16)} ${place} push held quiet_hours 06-04T05:00`),
    ...[0, 1, 2].map((place) => `06-04T05:00 ${place} push dropped collapsed`),
    '06-04T05:00 3 push sent accepted 0+1+2+3',
  ]);
});

test('shows steps, reads, caps and digests, whatever the order of the events', async () => {
  const event = (at: string, readAt?: string) => ({
    ...{ at: `2030-06-03T${at}:00+02:00`, data: { sum: 1 } },
    ...(readAt !== undefined && { read_at: `2030-06-03T${readAt}:00+02:00` }),
  });
  const events = [event('13:00'), event('10:00'), event('11:00', '11:30'), event('12:00')];
  const preferences = { time_zone: 'Europe/Madrid', channels: { push: 'off' } };
  const { body } = await simulate('club', { now: '2030-06-03T00:00:00Z', preferences, events });
  expect(lines(body)).toEqual([
    '06-03T08:00 1 push dropped channel_off',
    '06-03T09:00 1 email sent accepted',
    '06-03T09:00 2 push dropped channel_off',
    '06-03T10:00 2 email skipped read',
    '06-03T10:00 3 push dropped channel_off',
    '06-03T11:00 3 email sent accepted',
    '06-03T11:00 0 push dropped channel_off',
    '06-03T12:00 0 email digesting cap 06-04T07:00',
    '06-04T07:00 0 email sent accepted',
  ]);
});

test('knows what the request says about the person', async () => {
  const events = [{ at: '2030-06-03T10:00:00Z', data: { sum: 1 } }];
  const reasons = async (person: object) => {
    const { body } = await simulate('club', { now: '2030-06-03T00:00:00Z', person, events });
    return body.timeline.map(({ reason }) => reason);
  };
  expect(await reasons({})).toEqual(['accepted', 'accepted']);
  expect(await reasons({ push: 'none', email: 'suppressed' })).toEqual(['no_address', 'suppressed']);
  expect(await reasons({ email: 'not_proven' })).toEqual(['accepted', 'not_proven']);
  expect(await reasons({ is_active: false })).toEqual(['account_deactivated', 'account_deactivated']);
});

test('refuses what cannot be, all at once', async () => {
  const { status, body } = await simulate('club', {
    now: '2030-06-03T00:00:00Z',
    preferences: { time_zone: 'Mars/Olympus', quiet_hours: { from: '22:00', until: '22:00' }, topics: { a: {} } },
    events: [
      { at: '2030-06-02T00:00:00Z', data: { sum: 'x' } },
      { at: 'tomorrow', data: { sum: 1 } },
    ],
  });
  expect(status).toBe(422);
  expect(body.errors?.map(({ field, code }) => `${field} ${code}`)).toEqual([
    'preferences.time_zone unknown_time_zone',
    'preferences.quiet_hours empty_window',
    'preferences.topics preference_not_available',
    'events.0.data.sum data_invalid',
    'events.0.at in_the_past',
    'events.1.at invalid_time',
  ]);
  // Errors of form and of meaning come together.
  const faulty = await simulate('club', {
    now: 'never',
    preferences: { time_zone: 'Mars/Olympus', channels: 5 },
    events: [{ at: 5, data: { sum: 'x' } }, { at: 'tomorrow', data: { sum: 1 } }, 7],
  });
  expect(faulty.status).toBe(422);
  expect(faulty.body.errors?.map(({ field, code }) => `${field} ${code}`).sort()).toEqual([
    'events.0.at invalid_type',
    'events.0.data.sum data_invalid',
    'events.1.at invalid_time',
    'events.2 invalid_type',
    'now invalid_time',
    'preferences.channels invalid_type',
    'preferences.time_zone unknown_time_zone',
  ]);
  const many = {
    now: '2030-06-03T00:00:00Z',
    events: Array.from({ length: 1001 }, () => ({ at: '2030-06-03T00:00:00Z' })),
  };
  expect((await simulate('chat', many)).status).toBe(422);
  expect((await simulate('nothing', { now: '2030-06-03T00:00:00Z', events: [] })).status).toBe(404);
});

test('refuses times after which nothing can be shown, and shows those before', async () => {
  const end = '9999-12-31T23:00:00Z';
  const { status, body } = await simulate('chat', { now: end, events: [{ at: end, read_at: end }] });
  expect([status, body.errors?.map(({ field, code }) => `${field} ${code}`)]).toEqual([
    422,
    ['now too_far', 'events.0.at too_far', 'events.0.read_at too_far'],
  ]);
  const last = '9989-12-31T23:00:00Z';
  const { body: late } = await simulate('chat', { now: last, preferences: night, events: [{ at: last }] });
  expect(late.timeline.map(({ at, outcome }) => [at, outcome])).toEqual([
    ['9989-12-31T23:00:00.000000Z', 'held'],
    ['9990-01-01T06:00:00.000000Z', 'sent'],
  ]);
});
