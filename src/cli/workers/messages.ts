/** An environment, as {@link readConfig} takes it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** To a worker: what to serve with; that it has to stop; or to stop after its clients had time to go to another one. */
export type ToWorker = { readonly start: Environment } | 'stop' | 'retire';

/**
 * From a worker: that it listens to orders, for what is sent before is lost; where it serves; or, as its last word, why
 * it could not start.
 */
export type FromWorker = 'here' | { readonly ready: string } | { readonly failed: string };
