import { randomUUID } from 'node:crypto';
import { createElement, type FunctionComponent, type ReactNode } from 'react';
import type { TestApp } from '../../../test/support/app.js';
import type { Postern, Snapshot } from '../../client/src/index.js';
import { createBrowserSession, createPosternServer } from '../../server/src/index.js';
import { PosternProvider } from '../src/index.js';

/** Publishes a notification. */
export async function publish(app: TestApp, userId: string, description: string): Promise<void> {
  const body = { user_id: userId, notification_type: 'payment', description };
  const answer = await app.api('POST', '/admin/v1/notifications', {
    ...{ bearer: app.adminKey, body, headers: { 'idempotency-key': randomUUID() } },
  });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** A backend that renders pages: it reads the snapshot of a user by the cookie. */
export function backendOf(app: TestApp) {
  const server = createPosternServer({ url: app.url, timeout: 60_000 });
  return createBrowserSession(server, { basePath: '/auth', origin: 'http://app.example.com' });
}

/** A page below its provider. */
export function pageOf(postern: Postern, snapshot: Snapshot | undefined, ...children: readonly ReactNode[]): ReactNode {
  return createElement(PosternProvider, { postern, snapshot }, ...children);
}

/** A component that shows what a hook returns. */
export const showing =
  (use: () => unknown): FunctionComponent =>
  () =>
    createElement('output', null, JSON.stringify(use()));
