import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChallengeRef,
  endChallenge,
  findChallengeOwner,
  startChallenge,
  takeChallengeGuess,
} from '../../src/credentials/challenges.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const kept = { code: 'a digest' };

async function begin(options: { lifetime?: number; deviceId?: string } = {}): Promise<ChallengeRef> {
  const address = { userId: randomUUID(), id: randomUUID(), purpose: 'proof', ...options } as const;
  await startChallenge(fresh.database.users, { lifetime: 300, ...address, kept });
  return address;
}

const guess = (address: ChallengeRef) => takeChallengeGuess(fresh.database.users, address);
const count = async (all: readonly Promise<unknown>[]) => (await Promise.all(all)).filter(Boolean).length;

test('a challenge allows five guesses, even in parallel', async () => {
  for (let round = 0; round < 20; round += 1) {
    const address = await begin();
    expect(await count(Array.from({ length: 20 }, () => guess(address)))).toBe(5);
  }
});

test('a challenge ends once, even in parallel', async () => {
  for (let round = 0; round < 20; round += 1) {
    const address = await begin();
    const ends = Array.from({ length: 20 }, () => fresh.database.users.transaction((tx) => endChallenge(tx, address)));
    expect(await count(ends)).toBe(1);
    expect(await guess(address)).toBeUndefined();
  }
});

test('a challenge accepts answers only for its user, purpose and device', async () => {
  const address = await begin({ deviceId: randomUUID() });
  expect(await guess({ ...address, userId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...address, purpose: 'email' })).toBeUndefined();
  expect(await guess({ ...address, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...address, deviceId: undefined })).toBeUndefined();
  expect(await guess(address)).toEqual(kept);
});

test('a challenge without a device accepts no answer from a device', async () => {
  const address = await begin();
  expect(await guess({ ...address, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess(address)).toEqual(kept);
});

test('a challenge expires', async () => {
  expect(await guess(await begin({ lifetime: 0 }))).toBeUndefined();
});

test('the end of a challenge is rolled back with its transaction', async () => {
  const address = await begin();
  const failed = fresh.database.users.transaction(async (tx) => {
    await endChallenge(tx, address);
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await guess(address)).toEqual(kept);
});

test('a challenge is found by its id alone', async () => {
  const deviceId = randomUUID();
  for (const { userId, id, ...begun } of [await begin(), await begin({ deviceId })]) {
    expect(await findChallengeOwner(fresh.database.spanning, id)).toEqual({ userId, deviceId: begun.deviceId });
  }
  expect(await findChallengeOwner(fresh.database.spanning, randomUUID())).toBeUndefined();
});
