/** A number with its separators. */
export const n = (of: number) => of.toLocaleString('es');

/** A number and its noun. */
export const count = (of: number, one: string, other: string) => `${n(of)} ${of === 1 ? one : other}`;

export const people = (of: number) => count(of, 'persona', 'personas');

/** A number that may be larger. */
export const atLeast = (of: number, isExact: boolean, one: string, other: string) =>
  isExact ? count(of, one, other) : `más de ${count(of, one, other)}`;
