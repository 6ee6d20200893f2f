import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import { type Client, createClient, exampleId, expectProblem, fieldsOf, type Problem, timeIn } from '../client.js';
import { createInbox, numbered, type Reader, textsOf } from '../inbox.js';

export function describeNotificationQueries(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  let inbox: ReturnType<typeof createInbox>;
  let anyReader: Reader;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
    inbox = createInbox(client);
    anyReader = await inbox.newReader();
  });

  describe('4.7 sort', () => {
    test('sorts by created_at or updated_at, newest first by default', async () => {
      const reader = await inbox.newReader();
      const [first] = await inbox.publish(reader, numbered(3));
      await inbox.change(first, { actor: 'changed' });
      for (const [sort, texts] of [
        ['created_at', '321'],
        ['created_at:desc', '321'],
        ['created_at:asc', '123'],
        ['updated_at', '132'],
        ['updated_at:desc', '132'],
        ['updated_at:asc', '231'],
        ['updated_at:asc,created_at:desc', '231'],
        ['updated_at:desc|created_at:asc', '132'],
      ] as const) {
        expect([sort, textsOf(await inbox.list(reader, { sort })).join('')]).toEqual([sort, texts]);
      }
    });

    test.each([
      'actor',
      'created_at:up',
      'created_at:asc:asc',
      '',
      ',',
      'created_at,created_at',
      'CREATED_AT',
      'created_at&sort=updated_at',
    ])('is 422 for %s', async (sort) => {
      const answer = await inbox.list(anyReader, `sort=${sort}`);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['sort']]);
    });
  });

  describe('4.7 filter', () => {
    test('accepts every field and every operator', async () => {
      const reader = await inbox.newReader();
      const all = await inbox.publish(reader, [
        { description: '1', actor: 'Ann', actor_id: exampleId, notification_key: 'received', object_data_number: 0.1 },
        {
          description: '2',
          actor: 'ann lee',
          notification_type: 'pool',
          notification_key: 'invitation',
          object_data_number: -5,
        },
        {
          description: '3',
          actor: "O'Brien, Bob",
          notification_type: 'request',
          object_id: exampleId,
          object_data_string: '50% a:b',
        },
      ]);
      const [one, two] = all;
      for (const [filter, texts] of [
        [`id:eq:${one?.id}`, '1'],
        [`id:${one?.id.toUpperCase()}`, '1'],
        [`id:in:${one?.id};${two?.id}`, '21'],
        [`id:eq:${one?.id}:${two?.id}`, '21'],
        [`actor_id:eq:${exampleId}`, '1'],
        [`object_id:eq:${exampleId}`, '3'],
        ['actor:Ann', '1'],
        ['actor:neq:Ann', '32'],
        ['actor:like:ANN', '21'],
        ["actor:eq:O'Brien\\, Bob", '3'],
        ['notification_type:in:[pool;request]', '32'],
        ['notification_type:eq:pool:request', '32'],
        ['notification_type:neq:payment', '32'],
        ['notification_key:received', '1'],
        ['object_data_number:gt:0', '1'],
        ['object_data_number:gte:-5', '21'],
        ['object_data_number:lt:0', '2'],
        ['object_data_number:lte:0.1', '21'],
        ['object_data_string:eq:50% a:b', '3'],
        ['object_data_string:like:0%', '3'],
        ['description:like:2', '2'],
        [`created_at:gt:${one?.created_at}`, '32'],
        [`updated_at:lte:${two?.updated_at}`, '21'],
        [`sequence:eq:${two?.sequence}`, '2'],
        ['notification_type:pool,actor:like:lee', '2'],
        ['notification_type:pool|actor:Ann', ''],
      ] as const) {
        const answer = await inbox.list(reader, { filter });
        expect([filter, answer.status, textsOf(answer).join('')]).toEqual([filter, 200, texts]);
      }
    });

    test.each([
      ['notification_tipe:pool', 'unknown_filter_field', /notification_type/],
      ['actor:Ann,actor:lik:x', 'unknown_filter_op', /17.*like/],
      ['sequence:like:1', 'unknown_filter_op', /./],
      ['notification_type:paymant', 'invalid_filter_value', /paymant/],
      ['object_data_number:gt:many', 'invalid_filter_value', /many/],
      ['created_at:gt:2017-02-30', 'invalid_filter_value', /2017-02-30/],
      ['id:1', 'invalid_filter_value', /./],
      ['actor', 'invalid_filter_syntax', /./],
      ['', 'invalid_filter_syntax', /./],
    ])('is 422 for %s, and says where and what was meant', async (filter, code, message) => {
      const answer = await inbox.list<Problem>(anyReader, { filter });
      expectProblem(answer, 422, code);
      expect(answer.body.errors[0]?.message).toMatch(message);
    });
  });

  describe('4.7 since', () => {
    test('shows only notifications strictly after the time', async () => {
      const reader = await inbox.newReader();
      const [one, two, three] = (await inbox.publish(reader, numbered(3))).map(({ created_at }) => created_at);
      expect(textsOf(await inbox.list(reader, { since: one ?? '' }))).toEqual(['3', '2']);
      expect(textsOf(await inbox.list(reader, { since: (two ?? '').replace('T', ' ').replace('Z', '') }))).toEqual([
        '3',
      ]);
      expect(textsOf(await inbox.list(reader, { since: three ?? '' }))).toEqual([]);
      expect(textsOf(await inbox.list(reader, { since: '2017-10-19 17:02:03' }))).toEqual(['3', '2', '1']);
      expect(textsOf(await inbox.list(reader, 'since=2017-10-19+17:02:03'))).toEqual(['3', '2', '1']);
      expect(textsOf(await inbox.list(reader, { since: '2999-12-31 23:59:59' }))).toEqual([]);
    });

    test('is in UTC, and accepts RFC 3339 with an offset', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(1));
      const inSeconds = (seconds: number) => timeIn(seconds).slice(0, 19);
      expect(textsOf(await inbox.list(reader, { since: inSeconds(-60).replace('T', ' ') }))).toEqual(['1']);
      expect(textsOf(await inbox.list(reader, { since: inSeconds(60).replace('T', ' ') }))).toEqual([]);
      expect(textsOf(await inbox.list(reader, { since: `${inSeconds(3600 - 60)}+01:00` }))).toEqual(['1']);
      expect(textsOf(await inbox.list(reader, { since: `${inSeconds(3600 + 60)}+01:00` }))).toEqual([]);
    });

    test('applies to updated_at if that is the sort field', async () => {
      const reader = await inbox.newReader();
      const [one, , three] = await inbox.publish(reader, numbered(3));
      await inbox.change(one, { actor: 'changed' });
      const since = three?.created_at ?? '';
      expect(textsOf(await inbox.list(reader, { since, sort: 'updated_at' }))).toEqual(['1']);
      expect(textsOf(await inbox.list(reader, { since }))).toEqual([]);
    });

    test.each([
      'yesterday',
      '',
      '2017-02-30 00:00:00',
      '2017-10-19 24:00:00',
      '2017-10-19',
      '1508432523',
      '2017-10-19 17:02:03&since=2017-10-19 17:02:03',
    ])('is 422 for %s', async (since) => {
      const answer = await inbox.list(anyReader, `since=${since}`);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['since']]);
    });
  });
}
