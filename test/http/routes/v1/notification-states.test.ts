import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangedStates, InboxCounts, InboxStates } from '../../../../src/contract/notification-states.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventsOf, openStream } from '../../../support/event-stream.js';
import { type Reader, readersOf, some } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { createReader, publish } = readersOf(() => postern);
const call = <Body>({ token }: Reader, method: 'GET' | 'PUT' | 'PATCH', path: string, body?: unknown) =>
  postern.api<Body>(method, `/v1/notifications${path}`, { bearer: token, ...(body !== undefined && { body }) });

describe('states of notifications', () => {
  it('are changed, counted and listed, and leave the list as it is', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, some(3));
    const list = await call<unknown[]>(reader, 'GET', '');
    const change = await call<ChangedStates>(reader, 'PATCH', '/states', {
      ids: [one?.id, crypto.randomUUID()],
      read: true,
      archived: true,
    });
    expect(change).toMatchObject({ status: 200, body: { unread: 2, unseen: 2, is_capped: false, by: {} } });
    expect(change.body.not_found).toHaveLength(1);
    expect((await call<InboxCounts>(reader, 'PUT', '/seen', { through: two?.sequence })).body).toMatchObject({
      unseen: 1,
    });
    const { by } = (await call<InboxCounts>(reader, 'GET', '/counts?by=notification_type')).body;
    expect(Object.values(by).reduce((sum, { unread }) => sum + unread, 0)).toBe(2);
    expect((await call<InboxStates>(reader, 'GET', '/states')).body).toMatchObject({
      states: [{ id: one?.id, sequence: 1, read: true, archived: true, snoozed_until: null }],
      ...{ seen: 2, archived_through: 0, has_more: false, reset: false },
      marker: { last_read_sequence: 0, unread_count: 2, updated_at: null },
    });
    const after = await call<unknown[]>(reader, 'GET', '');
    expect(after.body).toEqual(list.body);
    expect(after.headers.etag).toBe(list.headers.etag);
  });

  it('belong to the user of the session', async () => {
    const [reader, other] = [await createReader(), await createReader()];
    const [foreign] = await publish(other.user, some(1));
    const answer = await call<ChangedStates>(reader, 'PATCH', '/states', { ids: [foreign?.id], read: true });
    expect(answer.body.not_found).toEqual([foreign?.id]);
    expect((await call<InboxCounts>(other, 'GET', '/counts')).body.unread).toBe(1);
  });

  it('send the event marker to streams when everything is read', async () => {
    const reader = await createReader();
    await publish(reader.user, some(2));
    const stream = await openStream(postern.url, { bearer: reader.token });
    await call(reader, 'PATCH', '/states', { filter: '', through: 9, read: true });
    expect(await eventsOf(stream, 'marker', 1)).toMatchObject([{ last_read_sequence: 2, unread_count: 0 }]);
  });

  it.each<[string, unknown, string, string]>([
    ['no values', { ids: ['7d9a2f1e-58a4-4f39-9c6b-0d1f6c1f3a10'] }, 'read', 'required'],
    ['no through', { filter: '', read: true }, 'through', 'through_required'],
    ['an id that is none', { ids: ['x'], read: true }, 'ids.0', 'invalid_format'],
    ['a through below 0', { filter: '', through: -1, read: true }, 'through', 'too_small'],
  ])('are refused with %s', async (_, body, field, code) => {
    const { status, body: problem } = await call<ProblemAnswer>(await createReader(), 'PATCH', '/states', body);
    expect(status).toBe(422);
    expect(problem.errors).toMatchObject([{ field, code }]);
  });

  it('are refused with all faults at once, of form and of meaning', async () => {
    const reader = await createReader();
    const faults = async (body: unknown) =>
      (await call<ProblemAnswer>(reader, 'PATCH', '/states', body)).body.errors.map(({ field, code }) => [field, code]);
    expect(await faults({ filter: 'colour:red', read: 'yes', snoozed_until: 'soon' })).toEqual([
      ['read', 'invalid_type'],
      ['through', 'through_required'],
      ['filter', 'unknown_filter_field'],
      ['snoozed_until', 'invalid_time'],
    ]);
    expect(await faults({ ids: [5], filter: 5, archived: 5 })).toEqual([
      ['ids.0', 'invalid_type'],
      ['filter', 'invalid_type'],
      ['archived', 'invalid_type'],
      ['ids', 'conflicting_fields'],
    ]);
    expect(await faults({ through: 'x' })).toEqual([
      ['through', 'invalid_type'],
      ['ids', 'required'],
      ['read', 'required'],
    ]);
    expect(await faults([])).toEqual([[undefined, 'invalid_type']]);
  });

  it.each([
    '/counts?by=colour',
    '/counts?by=notification_type&by=notification_type',
    '/states?after=x',
    '/states?limit=0',
  ])('are refused for %s', async (path) => {
    expect((await call<ProblemAnswer>(await createReader(), 'GET', path)).status).toBe(422);
  });
});
