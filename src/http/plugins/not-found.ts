import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

/** Answers 404 on unknown paths. On known paths: 405 with `Allow` for unknown methods, and a response to OPTIONS. */
export function notFoundPlugin(app: App): void {
  const methodsByPath = new Map<string, { segments: readonly string[]; methods: Set<string> }>();
  app.addHook('onRoute', (route) => {
    const entry = methodsByPath.get(route.url) ?? { segments: route.url.split('/'), methods: new Set(['OPTIONS']) };
    for (const method of [route.method].flat()) entry.methods.add(method);
    methodsByPath.set(route.url, entry);
  });
  // The hook is onRequest, so that the body is not read.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const segments = (request.url.split('?', 1)[0] ?? '').split('/');
    const allowed = [...methodsByPath.values()]
      .filter((route) => samePath(route.segments, segments))
      .flatMap((route) => [...route.methods]);
    if (allowed.length === 0) throw new Problem('not_found');
    const allow = [...new Set(allowed)].sort().join(', ');
    if (request.method !== 'OPTIONS') throw new Problem('method_not_allowed', { headers: { Allow: allow } });
    reply.code(204).header('Allow', allow).send();
  });
}

function samePath(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]));
}
