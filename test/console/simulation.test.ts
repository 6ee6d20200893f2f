import { expect, test } from 'vitest';
import {
  nextEvent,
  type Scenario,
  scenarioFaults,
  simulationRequest,
  timelineOf,
} from '../../console/src/pages/categories/simulation.js';

const event = (at: string, more: { readAt?: string; json?: string } = {}) => ({ at, readAt: '', json: '', ...more });
const scenario = (change: Partial<Scenario> = {}): Scenario => ({
  ...{ zone: 'Europe/Madrid', quietHours: null, choices: {}, events: [event('2030-06-03T18:00')] },
  ...change,
});

test('a simulation begins with the first notification, on the clock of the user', () => {
  const events = [
    event('2030-06-03T18:00', { json: '{"sum": 1}' }),
    event('2030-01-03T18:00', { readAt: '2030-01-03T19:00' }),
  ];
  expect(simulationRequest(scenario({ events, choices: { email: 'digest' } }), 'club')).toEqual({
    now: '2030-01-03T17:00:00.000Z',
    preferences: { time_zone: 'Europe/Madrid', categories: { club: { email: 'digest' } } },
    events: [
      { at: '2030-06-03T16:00:00.000Z', data: { sum: 1 } },
      { at: '2030-01-03T17:00:00.000Z', read_at: '2030-01-03T18:00:00.000Z' },
    ],
  });
});

test('a critical category takes no choices', () => {
  const { preferences } = simulationRequest(scenario({ choices: { push: 'off' } }), undefined);
  expect(preferences).toEqual({ time_zone: 'Europe/Madrid' });
});

test('the faults name the notification and the field', () => {
  const events = [event('2030-06-03T18:00'), event('', { readAt: 'soon', json: '[1]' })];
  expect(scenarioFaults(scenario({ events }))).toEqual(['1.at', '1.readAt', '1.json']);
});

test('the next notification comes an hour after the last, unread and with its data', () => {
  const last = event('2030-06-03T23:15', { readAt: '2030-06-04T01:00', json: '{"sum": 1}' });
  expect(nextEvent([last], event(''))).toEqual(event('2030-06-04T00:15', { json: '{"sum": 1}' }));
  expect(nextEvent([event('')], last)).toBe(last);
});

test('at the same time, a publication and a read come before what the service does', () => {
  const events = [event('2030-06-03T18:00', { readAt: '2030-06-03T18:00' }), event('2030-06-03T17:00')];
  const at = '2030-06-03T16:00:00.000000Z';
  const lines = timelineOf(simulationRequest(scenario({ events }), 'club'), [
    { at, event: 0, channel: 'push', outcome: 'skipped', reason: 'read' },
  ]);
  expect(lines.map(({ kind, event: place }) => `${kind} ${place}`)).toEqual([
    ...['published 1', 'published 0', 'read 0', 'step 0'],
  ]);
});
