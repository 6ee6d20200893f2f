/** A signal that aborts with the first of several. React Native before 0.87 has no `AbortSignal.any`. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { signal: controller.signal });
  }
  return controller.signal;
}
