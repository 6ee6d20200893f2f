import type * as english from './en/index.js';

/** The type of the texts of every language: the same keys, with any strings. */
type Wide<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : T[K] extends (...args: never[]) => string ? T[K] : Wide<T[K]>;
};
export type Texts = Wide<typeof english>;
