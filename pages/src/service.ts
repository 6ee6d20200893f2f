/** The URL of the service, without a slash at its end. The scripts are at `/pages/assets/`. */
export const base = new URL('../..', import.meta.url).href.replace(/\/$/, '');

/** A request to the routes of the pages. */
export async function ask<T>(
  path: '/pages/session' | '/pages/flow' | '/pages/answer',
  body?: object,
  { method = 'POST', signal }: { readonly method?: 'POST' | 'DELETE'; readonly signal?: AbortSignal | null } = {},
): Promise<T> {
  const answer = await fetch(base + path, {
    ...{ method, credentials: 'same-origin', signal: signal ?? null },
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}
