/** A user to notify, and where the id or the address was found. */
export interface Recipient {
  /** The id, `external:` and the external id, or the address as it was typed. */
  readonly id: string;
  /** Undefined: it is an id. */
  readonly address?: 'email' | 'phone';
  readonly line: number;
}

export interface ReadIds {
  readonly recipients: readonly Recipient[];
  /** Lines without an id of a user and without an address. */
  readonly refused: readonly { readonly line: number; readonly text: string }[];
  /** Ids that occur more than once. They are used once. */
  readonly repeated: number;
  /** Lines that are not empty, without the head of a CSV file. */
  readonly lines: number;
  /** The column or member that has the ids. */
  readonly column: string | undefined;
}

/** A user as the API names users beside ids. */
const typedReference = /^(?:email|phone|username):\S/;

/**
 * The users in the forms of the API, such as `email:ada@example.com`, which may also be typed.
 * @returns the lines that have none too
 */
export function referencesOf({ recipients, refused }: Pick<ReadIds, 'recipients' | 'refused'>) {
  const isTyped = ({ text }: ReadIds['refused'][number]) =>
    typedReference.test(text.trim()) && text.length < maxShownCharacters;
  const found = [
    ...recipients.map(({ id, address, line }) => ({
      reference: address === undefined || typedReference.test(id) ? id : `${address}:${id}`,
      line,
    })),
    ...refused.filter(isTyped).map(({ text, line }) => ({ reference: text.trim(), line })),
  ];
  return { found: found.sort((a, b) => a.line - b.line), refused: refused.filter((each) => !isTyped(each)) };
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The external id of a user. Upper and lower case are different ids. */
const externalId = /^external:.{1,255}$/;
/** Columns of CSV and members of NDJSON that can have the id or an address of a user, the best first. */
const idNames = ['user_id', 'userid', 'user', 'id', 'uuid', 'email', 'phone'] as const;
const mailAddress = /^[^\s@]+@[^\s@]+$/;
/** As people write phone numbers. The service decides which ones are valid. */
const phoneNumber = /^\+?[\d\s().\-/]*\d[\d\s().\-/]*$/;
/** The number of digits of a phone number, with those of a prefix such as 00. */
const digits = { min: 6, max: 18 };
/** The number of characters of a refused line that are kept. */
const maxShownCharacters = 200;

interface Found {
  readonly line: number;
  /** What should be an id. */
  readonly value: string;
}

/**
 * Ids and addresses that were typed or pasted: separated by lines, commas or semicolons, and by spaces unless the part is one
 * phone number.
 */
export function readList(text: string): ReadIds {
  const found = text.split('\n').flatMap((line, index) =>
    line
      .split(/[,;]/)
      .flatMap((part) => (isPhoneNumber(part.trim()) ? [part.trim()] : part.split(/\s+/)))
      .filter((value) => value !== '')
      .map((value) => ({ line: index + 1, value })),
  );
  return toReadIds(found, undefined);
}

/** The ids of a file: NDJSON, CSV, or one id on each line. */
export function readFileText(text: string): ReadIds {
  const content = text.replace(/^\uFEFF/, '');
  const first = content.trimStart();
  if (first.startsWith('{') || first.startsWith('"{')) return readNdjson(content);
  const rows = readCsv(content);
  const [head] = rows;
  if (head === undefined) return toReadIds([], undefined);
  const names = head.cells.map((cell) => cell.trim().toLowerCase());
  const name = idNames.find((candidate) => names.includes(candidate));
  if (name !== undefined) {
    const column = names.indexOf(name);
    const found = rows.slice(1).map(({ line, cells }) => ({ line, value: cells[column] ?? '' }));
    return toReadIds(found, head.cells[column]?.trim());
  }
  const column = Math.max(
    0,
    names.findIndex((cell) => idPattern.test(cell) || externalId.test(cell) || addressOf(cell) !== undefined),
  );
  return toReadIds(
    rows.map(({ line, cells }) => ({ line, value: cells[column] ?? '' })),
    undefined,
  );
}

function readNdjson(text: string): ReadIds {
  let column: string | undefined;
  const found = text.split('\n').flatMap((line, index): Found[] => {
    if (line.trim() === '') return [];
    try {
      const entries = Object.entries(JSON.parse(line) as object);
      const [name, value] =
        idNames.flatMap((idName) => entries.filter(([key]) => key.toLowerCase() === idName))[0] ?? [];
      if (typeof value !== 'string') return [{ line: index + 1, value: line }];
      column ??= name;
      return [{ line: index + 1, value }];
    } catch {
      return [{ line: index + 1, value: line }];
    }
  });
  return toReadIds(found, column);
}

function toReadIds(found: readonly Found[], column: string | undefined): ReadIds {
  const recipients: Recipient[] = [];
  const refused: { line: number; text: string }[] = [];
  const seenIds = new Set<string>();
  let repeated = 0;
  for (const { line, value } of found) {
    const trimmed = value.trim();
    const isExternal = externalId.test(trimmed);
    const id = isExternal ? trimmed : trimmed.toLowerCase();
    const address = isExternal || idPattern.test(id) ? undefined : addressOf(id);
    if (!isExternal && !idPattern.test(id) && address === undefined) {
      refused.push({ line, text: value.slice(0, maxShownCharacters) });
    } else if (seenIds.has(id)) repeated += 1;
    else recipients.push({ id, line, ...(address !== undefined && { address }) });
    seenIds.add(id);
  }
  return { recipients, refused, repeated, lines: found.length, column };
}

function isPhoneNumber(text: string): boolean {
  const { length } = text.replace(/\D/g, '');
  return phoneNumber.test(text) && length >= digits.min && length <= digits.max;
}

/** The type of the address that a text is. */
function addressOf(text: string): Recipient['address'] {
  if (mailAddress.test(text)) return 'email';
  return isPhoneNumber(text) ? 'phone' : undefined;
}

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of a CSV file that are not empty (RFC 4180), with commas, semicolons or tabs. */
function readCsv(text: string): Row[] {
  const [head = ''] = text.trimStart().split('\n', 1);
  const separator = [',', ';', '\t'].find((candidate) => head.includes(candidate)) ?? ',';
  const rows: Row[] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let [line, start] = [1, 1];
  const endRow = () => {
    cells.push(cell);
    if (cells.some((text) => text.trim() !== '')) rows.push({ line: start, cells });
    [cells, cell, start] = [[], '', line];
  };
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '\n') line += 1;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell.trim() === '') [isQuoted, cell] = [true, ''];
    else if (character === separator) {
      cells.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}
