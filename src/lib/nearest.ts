/** Of longer words, only the first characters are compared and shown, so that the cost and the response are limited. */
const maxCharacters = 60;

/**
 * The candidate with the smallest edit distance (Levenshtein) to `word`, ignoring case; the first of equals. Undefined only
 * if there are no candidates, so that an error message can always suggest a valid word.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return closest(word, candidates)?.candidate;
}

/**
 * The candidate that `word` probably means: the nearest one if at least half of its letters match, or a candidate that
 * contains the word or is contained in it. Undefined if there is none.
 */
export function nearestSimilar(word: string, candidates: readonly string[]): string | undefined {
  const lowerWord = word.slice(0, maxCharacters).toLowerCase();
  const found = closest(word, candidates);
  if (found !== undefined && found.distance * 2 <= Math.max(lowerWord.length, found.candidate.length)) {
    return found.candidate;
  }
  const contains = (long: string, short: string) => short.length >= minPartLength && long.includes(short);
  const related = candidates.filter(
    (each) => contains(each.toLowerCase(), lowerWord) || contains(lowerWord, each.toLowerCase()),
  );
  return nearest(word, related);
}

/** The candidate that differs from `word` in at most two characters, ignoring case; undefined if there is none. */
export function nearestSpelling(word: string, candidates: readonly string[]): string | undefined {
  const found = closest(word, candidates);
  return found !== undefined && found.distance <= 2 ? found.candidate : undefined;
}

/**
 * The minimum length in characters of a word that is searched for in other words. Shorter words are part of too many
 * other words.
 */
const minPartLength = 3;

function closest(word: string, candidates: readonly string[]): { candidate: string; distance: number } | undefined {
  const wanted = word.slice(0, maxCharacters).toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.slice(0, maxCharacters).toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best;
}

function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const substitution = valueAt(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, valueAt(previous, column) + 1, valueAt(current, column - 1) + 1));
    }
    previous = current;
  }
  return valueAt(previous, to.length);
}

function valueAt(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}

/** The text of a client for an error message, cut to 60 UTF-16 code units. */
export function truncateInput(value: string): string {
  // Half of a surrogate pair cannot be encoded in UTF-8.
  return value.slice(0, maxCharacters).replace(/\p{Surrogate}$/u, '');
}
