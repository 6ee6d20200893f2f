import type { EventEmitter } from 'node:events';

/** The input and output of a command, which tests replace. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** When absent: the environment of the process, over a `.env` file. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: AsyncIterable<string | Uint8Array>;
  /** Whether a person sees standard output. */
  readonly isTerminal: boolean;
  /** Emits SIGTERM, SIGINT and SIGUSR2. */
  readonly signals?: Pick<EventEmitter, 'on' | 'off'>;
  /** When the process started, in milliseconds since 1970. */
  readonly startedAt?: number;
}

/** A stream for text. */
export interface Output {
  write(text: string): unknown;
}

/**
 * Prints a text and the end of its line. Control characters other than tabs and line breaks become escapes such as
 * `\u001b`: users, webhooks and files choose some of the texts, and must not control the terminal.
 */
export function printLine(output: Output, line: string): void {
  output.write(`${escapeControls(line)}\n`);
}

/** Prints rows with aligned columns, two spaces apart. Line breaks become spaces. */
export function printTable(output: Output, table: readonly (readonly string[])[]): void {
  const rows = table.map((cells) => cells.map(onOneLine));
  const widths = rows.reduce<number[]>(
    (max, row) => row.map((cell, column) => Math.max(max[column] ?? 0, cell.length)),
    [],
  );
  for (const row of rows)
    printLine(
      output,
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

const onOneLine = (text: string) => escapeControls(text.replace(/[\t\r\n\u2028\u2029]+/g, ' '));

/** In JSON, these escapes mean the same characters. */
const escapeControls = (text: string) =>
  text.replace(
    /(?![\t\n])\p{Cc}|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Prints a value as indented JSON. */
export function printJson(output: Output, value: unknown): void {
  printLine(output, JSON.stringify(value, null, 2));
}
