import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Session } from '../../../src/contract/session.js';
import { sha256Hex } from '../../../src/lib/crypto/digests.js';
import { createSessionCache } from '../../../src/sessions/fast-path/session-cache.js';

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
    roles: [],
    claims: {},
    authenticated_at: time,
    amr: ['pwd'],
    proven_at: null,
  };
};

test('a full cache drops the sessions that were not read lately', () => {
  const cache = createSessionCache(10);
  const used = { digest: newDigest(), session: sessionOf(randomUUID()) };
  cache.set(used.digest, used.session);
  const others = Array.from({ length: 30 }, newDigest);
  for (const digest of others) {
    cache.set(digest, sessionOf(randomUUID()));
    expect(cache.get(used.digest)).toBe(used.session);
  }
  const newestFirst = others.reverse();
  const kept = newestFirst.filter((digest) => cache.get(digest) !== undefined);
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(kept.length).toBeLessThan(10);
  expect(kept).toEqual(newestFirst.slice(0, kept.length));
});

test('the cache keeps 16 sessions of a user, and deletes all sessions of a user', () => {
  const cache = createSessionCache(1000);
  const [userId, other] = [randomUUID(), randomUUID()];
  const otherDigest = newDigest();
  cache.set(otherDigest, sessionOf(other));
  const many = Array.from({ length: 20 }, newDigest);
  for (const digest of many) cache.set(digest, sessionOf(userId));
  expect(many.map((digest) => cache.get(digest) !== undefined)).toEqual(many.map((_, index) => index >= 4));
  cache.deleteUser(userId);
  expect(many.some((digest) => cache.get(digest) !== undefined)).toBe(false);
  expect(cache.get(otherDigest)).toBeDefined();
});

test('a deleted session is removed from both halves of the cache, and other sessions of its user stay', () => {
  const cache = createSessionCache(8);
  const session = sessionOf(randomUUID());
  const [digest, other] = [newDigest(), newDigest()];
  cache.set(digest, session);
  cache.set(other, session);
  for (const filler of [newDigest(), newDigest()]) cache.set(filler, sessionOf(randomUUID()));
  // The session is in the older half of the cache. This puts it into the recent half too.
  cache.set(digest, session);
  cache.delete(digest, session);
  expect(cache.get(digest)).toBeUndefined();
  expect(cache.get(other)).toBe(session);
  cache.deleteUser(session.user_id);
  expect(cache.get(other)).toBeUndefined();
});

test('a deleted user is removed from both halves of the cache', () => {
  const cache = createSessionCache(8);
  const userId = randomUUID();
  const digests = Array.from({ length: 4 }, newDigest);
  for (const digest of digests) cache.set(digest, sessionOf(userId));
  // These two sessions begin a new half, and a session that is read again also gets into it.
  for (const digest of [newDigest(), newDigest()]) cache.set(digest, sessionOf(randomUUID()));
  expect(cache.get(digests[0] ?? '')).toBeDefined();
  cache.deleteUser(userId);
  expect(digests.map((digest) => cache.get(digest))).toEqual(digests.map(() => undefined));
});

test('sessions with claims take more of the cache, by the length of their JSON', () => {
  const kept = (claims: Session['claims']) => {
    const cache = createSessionCache(100);
    const digests = Array.from({ length: 200 }, newDigest);
    for (const digest of digests) cache.set(digest, { ...sessionOf(randomUUID()), claims });
    return digests.filter((digest) => cache.get(digest) !== undefined).length;
  };
  expect(kept({})).toBeGreaterThanOrEqual(50);
  expect(kept({ text: 'x'.repeat(2000) })).toBeLessThanOrEqual(25);
});
