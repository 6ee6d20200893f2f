/** Of longer words the beginning is compared and echoed: cost and answer stay bounded whatever a client sends. */
const MAX_CHARACTERS = 60;

/**
 * The candidate with the least edit distance (Levenshtein) to `word`, letter case ignored; the first of equals.
 * Undefined only when there are no candidates: an error message always has a right word to offer.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return closest(word, candidates)?.candidate;
}

/**
 * The candidate that `word` was probably meant to be: one that contains it or is contained in it, or the nearest if at
 * least half of its letters are right. Undefined when no candidate is like it.
 */
export function alike(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.slice(0, MAX_CHARACTERS).toLowerCase();
  const found = closest(word, candidates);
  if (found !== undefined && found.distance * 2 <= Math.max(wanted.length, found.candidate.length)) {
    return found.candidate;
  }
  const contains = (long: string, short: string) => short.length >= MIN_PART && long.includes(short);
  const related = candidates.filter(
    (each) => contains(each.toLowerCase(), wanted) || contains(wanted, each.toLowerCase()),
  );
  return nearest(word, related);
}

/** Characters: shorter words are part of many. */
const MIN_PART = 3;

function closest(word: string, candidates: readonly string[]): { candidate: string; distance: number } | undefined {
  const wanted = word.slice(0, MAX_CHARACTERS).toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.slice(0, MAX_CHARACTERS).toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best;
}

function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const substitution = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, to.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}

/** What a client wrote, cut to 60 UTF-16 code units for an error message. */
export function echo(value: string): string {
  // Not through the middle of a surrogate pair: half of one cannot be written in UTF-8.
  return value.slice(0, MAX_CHARACTERS).replace(/\p{Surrogate}$/u, '');
}
