import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKnownSessions } from '../../src/authentication/known-sessions.js';
import type { Session } from '../../src/contract/session.js';
import { newToken, type ParsedToken, parseToken } from '../../src/lib/token-strings.js';

test('the memory of sessions is bounded: who was not asked for lately is dropped, and the oldest of many sessions of one user', () => {
  const known = createKnownSessions(10);
  const tokenOf = (userId: string) =>
    parseToken('session', newToken('session', [userId, randomUUID()]).token) as ParsedToken;
  const session = {} as Session;
  const [asked, ...others] = Array.from({ length: 30 }, () => tokenOf(randomUUID())) as [ParsedToken, ...ParsedToken[]];
  known.remember(asked, session);
  for (const token of others) {
    known.remember(token, session);
    expect(known.find(asked)).toBe(session);
  }
  const kept = others.filter((token) => known.find(token) !== undefined);
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(kept.length).toBeLessThan(10);
  expect(kept).toEqual(others.slice(-kept.length));

  const userId = randomUUID();
  const many = Array.from({ length: 20 }, () => tokenOf(userId));
  for (const token of many) known.remember(token, session);
  expect(many.map((token) => known.find(token) !== undefined)).toEqual(many.map((_, index) => index >= 4));
  known.forget(userId);
  expect(many.some((token) => known.find(token) !== undefined)).toBe(false);
});
