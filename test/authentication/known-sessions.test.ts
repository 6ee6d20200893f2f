import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKnownSessions } from '../../src/authentication/known-sessions.js';
import type { Session } from '../../src/contract/session.js';
import { sha256Hex } from '../../src/lib/sha256.js';

const newDigest = () => sha256Hex(randomUUID());
const sessionOf = (userId: string): Session => {
  const time = '2026-01-01T00:00:00.000000Z';
  return {
    id: randomUUID(),
    user_id: userId,
    device_id: randomUUID(),
    created_at: time,
    expires_at: time,
    updated_at: time,
  };
};

test('the memory of sessions is bounded: who was not asked for lately is dropped', () => {
  const known = createKnownSessions(10);
  const asked = { digest: newDigest(), session: sessionOf(randomUUID()) };
  known.remember(asked.digest, asked.session);
  const others = Array.from({ length: 30 }, newDigest);
  for (const digest of others) {
    known.remember(digest, sessionOf(randomUUID()));
    expect(known.find(asked.digest)).toBe(asked.session);
  }
  const newestFirst = others.reverse();
  const kept = newestFirst.filter((digest) => known.find(digest) !== undefined);
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(kept.length).toBeLessThan(10);
  expect(kept).toEqual(newestFirst.slice(0, kept.length));
});

test('of many sessions of one user the first ones are dropped, and a user is forgotten with all of them', () => {
  const known = createKnownSessions(1000);
  const [userId, other] = [randomUUID(), randomUUID()];
  const otherDigest = newDigest();
  known.remember(otherDigest, sessionOf(other));
  const many = Array.from({ length: 20 }, newDigest);
  for (const digest of many) known.remember(digest, sessionOf(userId));
  expect(many.map((digest) => known.find(digest) !== undefined)).toEqual(many.map((_, index) => index >= 4));
  known.forget(userId);
  expect(many.some((digest) => known.find(digest) !== undefined)).toBe(false);
  expect(known.find(otherDigest)).toBeDefined();
});

test('one session is forgotten in both halves of the memory, and the others of its user are not', () => {
  const known = createKnownSessions(8);
  const session = sessionOf(randomUUID());
  const [digest, other] = [newDigest(), newDigest()];
  known.remember(digest, session);
  known.remember(other, session);
  for (const filler of [newDigest(), newDigest()]) known.remember(filler, sessionOf(randomUUID()));
  // Now it is in both.
  known.remember(digest, session);
  known.forgetOne(digest, session);
  expect(known.find(digest)).toBeUndefined();
  expect(known.find(other)).toBe(session);
  known.forget(session.user_id);
  expect(known.find(other)).toBeUndefined();
});

test('a user is forgotten in both halves of the memory, whatever was asked for in between', () => {
  const known = createKnownSessions(8);
  const userId = randomUUID();
  const digests = Array.from({ length: 4 }, newDigest);
  for (const digest of digests) known.remember(digest, sessionOf(userId));
  // These begin the next half, and what is asked for again moves to it.
  for (const digest of [newDigest(), newDigest()]) known.remember(digest, sessionOf(randomUUID()));
  expect(known.find(digests[0] ?? '')).toBeDefined();
  known.forget(userId);
  expect(digests.map((digest) => known.find(digest))).toEqual(digests.map(() => undefined));
});
