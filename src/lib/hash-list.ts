import { closeSync, openSync, readSync } from 'node:fs';

const linePattern = /^([0-9A-Fa-f]{40})(?::\d{1,10})?\r?$/;

/** The hash in a line of a list of breached passwords: SHA-1 in capitals. Undefined for any other line. */
export function hashOfLine(line: string): string | undefined {
  return linePattern.exec(line)?.[1]?.toUpperCase();
}

/** Whether a file begins like such a list, sorted by hash. In a list that is sorted by count, a search finds nothing. */
export function looksLikeHashList(path: string): boolean {
  try {
    const hashes = firstLines(path).map(hashOfLine);
    return hashes.length > 0 && hashes.every((hash, index) => hash !== undefined && (hashes[index - 1] ?? '') < hash);
  } catch {
    return false;
  }
}

/** The complete lines in the first few kilobytes. */
function firstLines(path: string): string[] {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(4096);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const lines = buffer.toString('latin1', 0, length).split('\n');
    if (length === buffer.length || lines.at(-1) === '') lines.pop();
    return lines;
  } finally {
    closeSync(file);
  }
}
