import { n as formatted } from './counts.js';

const usersOf = (n: number) => `${formatted(n)} ${n === 1 ? 'user' : 'users'}`;

/** The import of users from a file. */
export const imports = {
  title: 'Import users',
  open: 'Import',
  file: 'File',
  choose: 'Choose a file',
  orDrop: 'or drop it here',
  formats:
    'CSV with a line of headings, as spreadsheets and other systems export it, or NDJSON with one user on each line.',
  nothingYet: 'Postern creates nothing until you have seen a dry run of the whole file.',
  reading: 'Reading the file…',
  another: 'Another file',
  size: (bytes: number) => {
    const units = ['bytes', 'kB', 'MB', 'GB'];
    const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
    return `${Number((bytes / 1000 ** unit).toPrecision(3)).toLocaleString('en')} ${units[unit]}`;
  },
  ndjson: 'NDJSON',
  csv: 'CSV',
  encoding: 'Encoding',
  delimiter: 'Separator',
  delimiters: { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Vertical bar' },
  hasHeadings: 'The first line has headings',
  unreadable: {
    empty: 'The file is empty.',
    workbook: 'This is a workbook. Save the sheet as CSV (UTF-8) in your spreadsheet program, and choose that file.',
    binary: 'The file is not text. Export it as CSV or NDJSON.',
    unreachable: 'The file cannot be read. It may have been moved or changed: choose it again.',
  },
  columns: 'Columns',
  column: 'Column',
  columnNumber: (n: number) => `Column ${n}`,
  firstValues: 'First values',
  becomes: 'Becomes',
  becomesOf: (column: string) => `What ${column} becomes`,
  hiddenValue: 'hidden',
  firstLines: 'First lines',
  moreColumns: (n: number) => `${formatted(n)} more columns are not shown.`,
  targets: {
    none: 'Leave out',
    username: 'Username',
    email: 'Mail address',
    phone: 'Phone',
    email_verified: 'Mail address is proven',
    phone_verified: 'Phone number is proven',
    external_id: 'External id',
    name: 'Name',
    locale: 'Language',
    id: 'User id (UUID)',
    created_at: 'Created',
    role: 'Role',
    password_hash: 'Password hash',
    password: 'Password',
    pin: 'PIN',
    metadata: 'Metadata (JSON object)',
    roles: 'Roles in the app',
    claims: 'Claims (JSON object)',
    preferences: 'Preferences of notifications',
    member: 'Metadata member named like the heading',
  },
  needsIdentity: 'Choose which column is the username, the mail address or the phone.',
  nameHint: 'If several columns are the name, they are joined.',
  hashHint:
    'Users keep their passwords: Postern accepts argon2, bcrypt, scrypt and PBKDF2. Only an operator can import hashes of a kind that no user has yet.',
  passwordHint:
    'Passwords work for one sign-in, at which the user chooses another. They are hashed on import, which takes about a second for a hundred users. Lines with a PIN fail: only the user chooses it.',
  dryRun: 'Dry run',
  dryRunAbout: 'Checks every line as an import does, and creates nothing.',
  check: 'Check the file',
  checkAgain: 'Check again',
  checking: (n: number) => `${usersOf(n)} checked`,
  work: 'Import',
  importing: (n: number) => `${usersOf(n)} done`,
  stop: 'Stop',
  goOn: 'Continue',
  report: 'Report',
  good: { dryRun: 'can be imported', work: 'created' },
  exists: 'exist already',
  failed: { dryRun: 'cannot be imported', work: 'not imported' },
  allGood: (n: number) => `${usersOf(n)} can be imported. No line has an error.`,
  someBad: (bad: number) =>
    `${bad === 1 ? 'One line has an error' : `${formatted(bad)} lines have errors`}. Correct the file and check it again, or import the others without them.`,
  noneGood: 'No line can be imported.',
  start: (n: number) => `Import ${usersOf(n)}`,
  startValid: (n: number) => `Import only the ${usersOf(n)} without errors`,
  existingStay: 'Users who exist already are not changed.',
  imported: (n: number) => `${usersOf(n)} ${n === 1 ? 'was' : 'were'} created.`,
  stopped: (line: number) => `Stopped. All lines up to ${formatted(line)} are done, and nothing after it was sent.`,
  interrupted: (line: number) =>
    line === 0
      ? 'Interrupted before the first line was done.'
      : `Interrupted. All lines up to ${formatted(line)} are done.`,
  unsure: (from: number, to: number) =>
    `The answer for lines ${formatted(from)} to ${formatted(to)} was lost, so their users may have been created. If you continue, no user is created twice. In the report, users of these lines who were created have the result “exists”.`,
  fileChanged: 'The file has changed or was moved since you chose it. Choose it again.',
  toUsers: 'See the users',
  rows: 'Lines to check',
  line: 'Line',
  user: 'User',
  field: 'Field',
  reason: 'Reason',
  noName: 'No name',
  existing: 'This user exists already.',
  sameAsLine: (line: number) => `Line ${formatted(line)} already has the same value.`,
  lineErrors: {
    too_long: 'The line is longer than 64 KiB. A quotation mark may be missing.',
    open_quote: 'A quotation mark is not closed until the end of the file.',
    too_many_cells: 'The line has more cells than there are columns. A quotation mark or a separator may be wrong.',
  },
};
