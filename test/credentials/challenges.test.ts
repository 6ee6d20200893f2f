import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChallengeRef,
  countChallengeGuess,
  endChallenge,
  findChallengeOwner,
  startChallenge,
} from '../../src/credentials/challenges.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { raceRounds } from '../support/rounds.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const state = { code: 'a digest' };

async function begin(options: { lifetime?: number; deviceId?: string } = {}): Promise<ChallengeRef> {
  const ref = { userId: randomUUID(), id: randomUUID(), purpose: 'proof', ...options } as const;
  await startChallenge(fresh.database, { lifetime: 300, ...ref, state });
  return ref;
}

const guess = (ref: ChallengeRef) => countChallengeGuess(fresh.database, ref);
const countSuccesses = async (attempts: readonly Promise<unknown>[]) =>
  (await Promise.all(attempts)).filter(Boolean).length;

test('a challenge allows five guesses, even in parallel', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const ref = await begin();
    expect(await countSuccesses(Array.from({ length: 20 }, () => guess(ref)))).toBe(5);
  }
});

test('a challenge ends once, even in parallel', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const ref = await begin();
    const ends = Array.from({ length: 20 }, () => fresh.database.transaction((tx) => endChallenge(tx, ref)));
    expect(await countSuccesses(ends)).toBe(1);
    expect(await guess(ref)).toBeUndefined();
  }
});

test('a challenge accepts answers only for its user, purpose and device', async () => {
  const ref = await begin({ deviceId: randomUUID() });
  expect(await guess({ ...ref, userId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...ref, purpose: 'email' })).toBeUndefined();
  expect(await guess({ ...ref, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...ref, deviceId: undefined })).toBeUndefined();
  expect(await guess(ref)).toEqual(state);
});

test('a challenge without a device accepts no answer from a device', async () => {
  const ref = await begin();
  expect(await guess({ ...ref, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess(ref)).toEqual(state);
});

test('a challenge expires', async () => {
  expect(await guess(await begin({ lifetime: 0 }))).toBeUndefined();
});

test('the end of a challenge is rolled back with its transaction', async () => {
  const ref = await begin();
  const failed = fresh.database.transaction(async (tx) => {
    await endChallenge(tx, ref);
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(await guess(ref)).toEqual(state);
});

test('a challenge is found by its id alone', async () => {
  const deviceId = randomUUID();
  for (const { userId, id, ...challenge } of [await begin(), await begin({ deviceId })]) {
    expect(await findChallengeOwner(fresh.database, id)).toEqual({ userId, deviceId: challenge.deviceId });
  }
  expect(await findChallengeOwner(fresh.database, randomUUID())).toBeUndefined();
});
