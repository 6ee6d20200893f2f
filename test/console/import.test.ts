import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../console/src/lib/csv.js';
import { readRows } from '../../console/src/pages/import/rows.js';
import { createCsvReader, delimiterOf, maxRecord } from '../../src/users/import-file/csv.js';
import { type Encoding, encodingOf, textOf } from '../../src/users/import-file/decode.js';
import { assignTarget, guessColumns, looksLikeHeadings, userOf } from '../../src/users/import-file/mapping.js';

/** The records of a text that arrives in pieces of a size. */
function read(text: string, { delimiter = ',', size = text.length || 1 } = {}) {
  const reader = createCsvReader(delimiter);
  const records = [];
  for (let at = 0; at < text.length; at += size) records.push(...reader.feed(text.slice(at, at + size)));
  return [...records, ...reader.end()];
}
const cellsOf = (text: string, options = {}) => read(text, options).map(({ cells }) => cells);

describe('a CSV file', () => {
  test('gives back all cells, however it was cut into pieces', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ';', ' ', 'é') });
    const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    const quoted = (cells: readonly string[]) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 7 }), fc.constantFrom('\n', '\r\n', '\r'), (given, size, end) => {
        expect(cellsOf(given.map(quoted).join(end), { size })).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  test('has the line numbers of the file, although cells contain line ends and lines are empty', () => {
    const text =
      'name,email\r\n"Ada\r\nLovelace",ada@example.com\r\n\r\n\r\n"Grace\nHopper\rUSN",g@example.com\nlast,l@example.com';
    for (const size of [1, 2, 100]) {
      expect(read(text, { size }).map(({ line }) => line)).toEqual([1, 2, 6, 9]);
    }
  });

  test.each([
    ['text after a closing quote', '"a"b,c', ['ab', 'c']],
    ['a quote in the middle of a cell', 'a"b,c"', ['a"b', 'c"']],
    ['a quoted empty cell', '""', ['']],
    ['a trailing separator', 'a,', ['a', '']],
  ])('keeps %s', (_, text, cells) => {
    expect(cellsOf(text)).toEqual([cells]);
  });

  test('with a quote that is never closed says so, and does not keep the rest of the file', () => {
    const [record, ...others] = read(`"a,b\n${'x'.repeat(5 * maxRecord)}`, { size: 1000 });
    expect(others).toEqual([]);
    expect(record).toMatchObject({ line: 1, error: 'open_quote' });
    expect(record?.cells.join('').length).toBeLessThanOrEqual(maxRecord);
  });

  test('with a long record reports it, and continues with the next', () => {
    const records = read(`${'x'.repeat(maxRecord + 1)},b\nnext,line\n`, { size: 1000 });
    expect(records.map(({ line, error }) => [line, error])).toEqual([
      [1, 'too_long'],
      [2, undefined],
    ]);
  });

  test.each([
    [',', 'name,email\n"Lovelace; Ada",a@example.com\n'],
    [';', 'apellido, nombre;correo\nLovelace;a@example.com\n'],
    ['\t', 'a\tb\tc\n1,5\t2,5\t3,5\n'],
    ['|', 'a|b\n1|2'],
  ])('separated by %j is recognised', (delimiter, text) => {
    expect(delimiterOf(text)).toBe(delimiter);
  });

  test('has no formula for spreadsheets that separate cells by semicolons or tabs', () => {
    const separators = /[;\t\r\n]/;
    for (const text of ['x;=cmd', 'x; =cmd', 'x;"=cmd', 'x\t@a', 'a\n=1', 'a\r\n-1', ';;+1', 'a;\t=1', { a: 'b;=1' }]) {
      const line = csvLine(['a', text, 'b']);
      for (const cell of line.split(separators)) expect(cell, line).not.toMatch(/^ *"*[=+\-@]/);
    }
    expect(csvLine(['a; b', '5 - 3', 'a=b', 'x,=y'])).toBe('"a; b",5 - 3,a=b,"x,=y"');
  });

  test('is written without cells that a spreadsheet would run', () => {
    expect(csvLine(['=1+1', '+1', '-1', '@a', '\t=1', 'a"b', 'a,b', null, 5, { a: 1 }])).toBe(
      `'=1+1,'+1,'-1,'@a,"'\t=1","a""b","a,b",,5,"{""a"":1}"`,
    );
    // Programs that convert characters read others as these signs, and some ignore what stands before them.
    for (const sign of [...'﹢﹣﹦﹫⁺⁻⁼₊₋₌−＝＋－＠'])
      expect(csvLine([`${sign}1`, `x;${sign}1`])).toBe(`'${sign}1,"x;'${sign}1"`);
    for (const blank of [' ', '\u00a0', '\u3000', '\ufeff', '\u200b', '\u2060', '\u0000', '\v', '\f', '  \ufeff']) {
      expect(csvLine([`${blank}=1`])).toBe(`${blank}'=1`);
      expect(csvLine([`x;${blank}"@a`])).toBe(`"x;${blank}""'@a"`);
    }
    for (const unseen of [
      '\u00ad',
      '\u061c',
      '\u180e',
      '\u200b\u200b',
      '\u202e',
      '\u2063',
      '\u2066',
      '\u{e0020}',
      '\u0001',
      '\u007f',
    ]) {
      expect(csvLine([`${unseen}=1`])).toBe(`${unseen}'=1`);
      expect(csvLine([`x|${unseen}@a`])).toBe(`x|${unseen}'@a`);
    }
    for (const quotes of [1, 2, 3]) expect(csvLine([`x;${'"'.repeat(quotes)}=1`])).toContain("'=1");
    for (const line of ['\u2028', '\u2029', '\u0085', '|']) expect(csvLine([`x${line}=1`])).toContain("'=1");
    expect(csvLine(['＝1+1', '＋1', '－1', '＠a', 'x;＝1'])).toBe(`'＝1+1,'＋1,'－1,'＠a,"x;'＝1"`);
  });

  test.each(['\t', ' ', '\n', ';', '\u2028', '; ', '\t"', '\u00ad'])(
    'is written in time that grows with the text, of many %j',
    (part) => {
      const text = part.repeat(300_000);
      expect(csvLine([`x${text}y`]).length).toBeGreaterThan(text.length);
      expect(csvLine([`x|${text}=1`])).toContain("'=1");
    },
  );
});

describe('roles and claims of the app', () => {
  test.each([
    ['editor', ['editor']],
    ['editor, billing:admin; editor|x', ['editor', 'billing:admin', 'x']],
    ['["a", "b"]', ['a', 'b']],
    ["'-x", ['-x']],
    ['{"a": 1}', { a: 1 }],
  ])('a cell of roles such as %s is a list', (cell, roles) => {
    expect(userOf([cell], ['roles'], ['Roles'])).toEqual({ roles });
  });

  test('claims are a JSON object, and other text stays, to be refused', () => {
    expect(guessColumns(['App Roles', 'claims'], [])).toEqual(['roles', 'claims']);
    expect(userOf(['{"plan": "pro"}'], ['claims'], ['claims'])).toEqual({ claims: { plan: 'pro' } });
    expect(userOf(['pro'], ['claims'], ['claims'])).toEqual({ claims: 'pro' });
  });
});

describe('the encoding', () => {
  const text = 'nombre;correo\nÍñigo 😀;i@example.com\n';
  const utf16 = (littleEndian: boolean, mark: boolean) => {
    const bytes = Buffer.from((mark ? '\uFEFF' : '') + text, 'utf16le');
    return littleEndian ? bytes : bytes.swap16();
  };
  const decoded = async (bytes: Buffer, encoding: Encoding) => {
    let all = '';
    for await (const piece of textOf(new Blob([new Uint8Array(bytes)]), encoding)) all += piece.text;
    return all;
  };

  test.each([
    ['UTF-8', 'utf-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', 'utf-8', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16 with a mark', 'utf-16le', utf16(true, true)],
    ['UTF-16 without a mark', 'utf-16le', utf16(true, false)],
    ['UTF-16 in the other byte order, with a mark', 'utf-16be', utf16(false, true)],
    ['UTF-16 in the other byte order', 'utf-16be', utf16(false, false)],
  ] as const)('%s is recognised', async (_, encoding, bytes) => {
    expect(await encodingOf(new Blob([new Uint8Array(bytes)]))).toBe(encoding);
    expect(await decoded(bytes, encoding)).toBe(text);
  });

  test('of a spreadsheet on Windows is recognised, also if its first letter beyond ASCII is far into the file', async () => {
    const bytes = Buffer.from(`${'a,b\n'.repeat(100_000)}Íñigo,b\n`, 'latin1');
    expect(await encodingOf(new Blob([new Uint8Array(bytes)]))).toBe('windows-1252');
    expect((await decoded(bytes, 'windows-1252')).endsWith('Íñigo,b\n')).toBe(true);
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['workbook', Buffer.from('PK\u0003\u0004xl/workbook.xml')],
    ['binary', Buffer.from([0x89, 0x50, 0, 0, 0, 0x0d])],
  ])('of a file without text is refused with the reason: %s', async (reason, bytes) => {
    expect(await encodingOf(new Blob([new Uint8Array(bytes)]))).toBe(reason);
  });
});

describe('the columns', () => {
  test('are guessed from their headings in several languages, and from the values below them', () => {
    const headings = ['Correo electrónico', 'Teléfono', 'Nombre', 'Apellidos', 'Password', 'id', 'Notas', 'E-Mail'];
    const sample = [['a@example.com', '+34612345678', 'Ada', 'Lovelace', '$2b$10$x', '17', 'vip', 'b@example.com']];
    expect(guessColumns(headings, sample)).toEqual([
      ...['email', 'phone', 'name', 'name', 'password_hash', 'external_id', 'none', 'none'],
    ]);
  });

  test.each([
    ['Django', `pbkdf2_sha256$1200000$salt$${'A'.repeat(43)}=`],
    ['Keycloak', JSON.stringify({ type: 'password', secretData: '{}', credentialData: '{}' })],
    ['Firebase', '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA'],
    ['phpass', '$P$B123456789abcdefghijklmnopqrstu'],
    ['WordPress 6.8', '$wp$2y$10$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzabcde'],
    ['sha512-crypt', '$6$rounds=5000$salt$abc'],
    ['sha256-crypt', '$5$salt$abc'],
    ['LDAP', '{SSHA}AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['LDAP with SHA-512', `{ssha512}${'A'.repeat(96)}`],
    ['ASP.NET Core Identity', `AQAAAAIAAYagAAAAE${'A'.repeat(67)}`],
  ])('with hashes of %s are hashes, also under the heading of a password', (_, value) => {
    expect(guessColumns(['password'], [[value]])).toEqual(['password_hash']);
    expect(guessColumns(['column 7'], [[value]])).toEqual(['password_hash']);
    expect(guessColumns(['password'], [[value], ['a battery of horses']])).toEqual(['password']);
  });

  test('without headings are guessed from their values', () => {
    const cells = ['ada@example.com', '+34 612 345 678', 'Ada', '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'];
    expect(looksLikeHeadings(cells)).toBe(false);
    expect(guessColumns(['', '', '', ''], [cells])).toEqual(['email', 'phone', 'none', 'none']);
  });

  test('that can be assigned only once replace the earlier assignment', () => {
    expect(assignTarget(['email', 'none', 'name'], 1, 'email')).toEqual(['none', 'email', 'name']);
    expect(assignTarget(['name', 'none'], 1, 'name')).toEqual(['name', 'name']);
  });

  test('become a user: names are joined, empty cells left out, times and hashes brought to the form of the API', () => {
    const columns = [
      'name',
      'name',
      'email',
      'phone',
      'created_at',
      'password_hash',
      'locale',
      'member',
      'none',
    ] as const;
    const cells = [
      'Ada',
      ' Lovelace ',
      '',
      "'+44 7700 900077",
      '2017-10-19 17:02',
      'argon2$argon2id$v=19$x',
      'en_GB',
      'gold',
      'x',
    ];
    expect(userOf(cells, columns, ['', '', '', '', '', '', '', '__proto__', ''])).toEqual({
      name: 'Ada Lovelace',
      phone: '+44 7700 900077',
      created_at: '2017-10-19T17:02:00Z',
      password_hash: '$argon2id$v=19$x',
      locale: 'en-GB',
      metadata: Object.fromEntries([['__proto__', 'gold']]),
    });
  });

  test.each([
    ['2017-10-19', '2017-10-19T00:00:00Z'],
    ['2017-10-19 17:02:03.5+02:00', '2017-10-19T17:02:03.5+02:00'],
    ['2017-10-19 17:02:03 UTC', '2017-10-19T17:02:03Z'],
    ['19.10.2017', '19.10.2017'],
  ])('turn the time %s into %s', (given, wanted) => {
    expect(userOf([given], ['created_at'], ['created'])).toEqual({ created_at: wanted });
  });
});

describe('the rows', () => {
  const rowsOf = async (content: string, csv?: object) => {
    const all = [];
    const reading = { file: new File([content], 'users'), encoding: 'utf-8', ...(csv && { csv }) };
    for await (const { rows } of readRows(reading as Parameters<typeof readRows>[0])) all.push(...rows);
    return all;
  };

  test('of NDJSON are sent as they are, without empty lines, and long ones are reported', async () => {
    const rows = await rowsOf(`{"email":"A@example.com"}\r\n\n${'x'.repeat(3 * maxRecord)}\nnot JSON\n`);
    expect(rows.map(({ line, json, error }) => [line, json, error])).toEqual([
      [1, '{"email":"A@example.com"}', undefined],
      [3, '', 'too_long'],
      [4, 'not JSON', undefined],
    ]);
    expect(rows[0]).toMatchObject({ displayName: 'A@example.com', identities: [['email', 'a@example.com']] });
  });

  test('of CSV with more cells than columns are reported', async () => {
    const csv = { delimiter: ',', hasHeadings: true, headings: ['email'], columns: ['email'] };
    const rows = await rowsOf('email\na@example.com,\nb@example.com,x\n', csv);
    expect(rows.map(({ line, json, error }) => [line, json, error])).toEqual([
      [2, '{"email":"a@example.com"}', undefined],
      [3, '', 'too_many_cells'],
    ]);
  });
});
