import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  beginChallenge,
  type ChallengeAddress,
  endChallenge,
  findChallengeOwner,
  takeChallengeGuess,
} from '../../../src/authentication/self-service/challenges.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const kept = { code: 'a digest' };

async function begin(options: { lifetime?: number; deviceId?: string } = {}): Promise<ChallengeAddress> {
  const address = { userId: randomUUID(), id: randomUUID(), purpose: 'proof', ...options } as const;
  await beginChallenge(fresh.database, { lifetime: 300, ...address, kept });
  return address;
}

const guess = (address: ChallengeAddress) => takeChallengeGuess(fresh.database, address);
const count = async (all: readonly Promise<unknown>[]) => (await Promise.all(all)).filter(Boolean).length;

test('gives five guesses, however many ask at once', async () => {
  for (let round = 0; round < 20; round += 1) {
    const address = await begin();
    expect(await count(Array.from({ length: 20 }, () => guess(address)))).toBe(5);
  }
});

test('ends once, however many end it at once', async () => {
  for (let round = 0; round < 20; round += 1) {
    const address = await begin();
    const ends = Array.from({ length: 20 }, () => fresh.database.transaction((tx) => endChallenge(tx, address)));
    expect(await count(ends)).toBe(1);
    expect(await guess(address)).toBeUndefined();
  }
});

test('counts for its user, purpose and device alone', async () => {
  const address = await begin({ deviceId: randomUUID() });
  expect(await guess({ ...address, userId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...address, purpose: 'email' })).toBeUndefined();
  expect(await guess({ ...address, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess({ ...address, deviceId: undefined })).toBeUndefined();
  expect(await guess(address)).toEqual(kept);
});

test('counts for no device when none began it', async () => {
  const address = await begin();
  expect(await guess({ ...address, deviceId: randomUUID() })).toBeUndefined();
  expect(await guess(address)).toEqual(kept);
});

test('lapses', async () => {
  expect(await guess(await begin({ lifetime: 0 }))).toBeUndefined();
});

test('is rolled back with what it would have brought about', async () => {
  const address = await begin();
  const failed = fresh.database.transaction(async (tx) => {
    await endChallenge(tx, address);
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await guess(address)).toEqual(kept);
});

test('is found by its id alone', async () => {
  const deviceId = randomUUID();
  for (const { userId, id, ...begun } of [await begin(), await begin({ deviceId })]) {
    expect(await findChallengeOwner(fresh.database, id)).toEqual({ userId, deviceId: begun.deviceId });
  }
  expect(await findChallengeOwner(fresh.database, randomUUID())).toBeUndefined();
});
