import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { textRules } from '../../../src/authentication/messages/kinds.js';
import { readOwnTexts } from '../../../src/authentication/messages/own-texts.js';
import { builtInTexts, createTemplates, placeholder } from '../../../src/authentication/messages/templates.js';
import { ConfigError } from '../../../src/config.js';
import { temporaryFolder } from '../../cli/command.js';
import { startTestApp } from '../../support/app.js';

async function folderWith(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  return folder.path;
}

const faultsOf = async (files: Readonly<Record<string, string | Buffer>>) =>
  (await readOwnTexts(await folderWith(files))).faults;

const templates = createTemplates({ app: 'Example', own: new Map() });
const code = { code: '482913', minutes: '5' };

describe('the texts that Postern brings', () => {
  test('are there for every kind in both languages, and keep the rules that the operator’s own must keep', async () => {
    const texts = builtInTexts();
    expect([...texts.keys()].sort()).toEqual([...textRules.keys()].sort());
    const files = [...texts].flatMap(([kind, byLanguage]) =>
      [...byLanguage].map(([language, text]) => [`${kind}.${language}.txt`, text] as const),
    );
    expect(files).toHaveLength(2 * textRules.size);
    expect(await faultsOf(Object.fromEntries(files))).toEqual([]);
  });

  test.each([
    [undefined, 'en'],
    ['en-GB', 'en'],
    ['es', 'es'],
    ['es-MX', 'es'],
    ['ES_mx', 'es'],
    ['fr', 'en'],
    ['', 'en'],
    ['est', 'en'],
  ])('are, for the locale %j, in %s', (locale, language) => {
    const texts = { en: /^Your Example code is 482913\./, es: /^Su código de Example es 482913\./ };
    expect(templates.render('sms.code', locale, code).text).toMatch(texts[language as 'en' | 'es']);
  });

  test('show neither placeholders nor a value that looks like one', () => {
    for (const [kind] of textRules) {
      const values = { ...code, time: 'now', device: '{code} $& \r\nBcc: x', address: '' };
      const { subject, text } = templates.render(kind, 'es', values);
      expect(subject).not.toMatch(/[\r\n]/);
      expect(`${subject} ${text}`.replaceAll('{code} $&', '')).not.toMatch(placeholder);
    }
  });

  test('say of a device and a network that nobody knows that they are unknown', () => {
    expect(templates.render('email.password_changed', 'en', { time: 'now' }).text).toContain('Device: unknown');
    expect(templates.render('email.password_changed', 'es', { time: 'now' }).text).toContain('Red: desconocido');
  });
});

describe('TEMPLATES_DIR', () => {
  test('replaces texts and adds languages', async () => {
    const folder = await folderWith({
      'sms.code.en.txt': 'Code: {code}\n',
      'sms.code.fr.txt': '{app} : {code}',
      'sms.code.fr-CH.txt': '\uFEFF{app}, Genève : {code}\r\n',
      'email.code.fr.txt': 'Subject: Le code {code}\n\nVotre code : {code}\n',
      'README.md': 'not a text',
      '.hidden.txt': 'neither',
    });
    const { texts, faults } = await readOwnTexts(folder);
    expect(faults).toEqual([]);
    const own = createTemplates({ app: 'Example', own: texts });
    const say = (kind: string, locale: string) => own.render(kind, locale, code);
    expect(say('sms.code', 'en-US').text).toBe('Code: 482913');
    expect(say('sms.code', 'it').text).toBe('Code: 482913');
    expect(say('sms.code', 'fr-FR').text).toBe('Example : 482913');
    expect(say('sms.code', 'fr-CH').text).toBe('Example, Genève : 482913');
    expect(say('sms.code', 'es').text).toMatch(/^Su código/);
    expect(say('email.code', 'fr')).toEqual({ subject: 'Le code 482913', text: 'Votre code : 482913' });
    expect(say('email.recovery_code', 'fr').subject).toBe('482913 is your Example recovery code');
  });

  test('names everything that is wrong at once', async () => {
    const faults = await faultsOf({
      'sms.code.de.txt': 'Ihr Code',
      'sms.code.fr.txt': 'Votre code {code}, {cdoe} {name}',
      'sms.code.it.txt': '{code} { code } {{app}}',
      'sms.code.txt': '{code}',
      'sms.cod.en.txt': '{code}',
      'email.code.de.txt': '{code}',
      'email.code.fr.txt': 'Subject: {code}\n\nMerci',
      'email.code.it.txt': 'Subject: \n\n{code}',
      'push.new_device.en.txt': 'New: {device} {code}',
      'push.new_device.es.txt': ' \n',
      'sms.code.nl.txt': Buffer.from([0x7b, 0xff, 0xfe]),
      'sms.code.pt.txt': 'x'.repeat(16_385),
    });
    expect(faults).toEqual([
      'email.code.de.txt must begin with the line "Subject: …", then an empty line, then the text',
      'email.code.fr.txt lacks {code}',
      'email.code.it.txt must begin with the line "Subject: …", then an empty line, then the text',
      'push.new_device.en.txt holds {code}, which it cannot: it may hold {app}, {device}, {time}, {address}',
      'push.new_device.es.txt is empty',
      'sms.cod.en.txt is of no kind that there is; the nearest is sms.code',
      'sms.code.de.txt lacks {code}',
      'sms.code.fr.txt holds {cdoe}, which it cannot: it may hold {app}, {code}, {minutes}',
      'sms.code.fr.txt holds {name}, which it cannot: it may hold {app}, {code}, {minutes}',
      'sms.code.it.txt holds a brace that is no placeholder’s',
      'sms.code.nl.txt cannot be read: it is not UTF-8',
      'sms.code.pt.txt is longer than 16384 bytes',
      'sms.code.txt is not named <kind>.<language>.txt, such as sms.code.fr.txt',
    ]);
  });

  test('that is not there, or is no folder, is a fault', async () => {
    const folder = await folderWith({ 'sms.code.en.txt': '{code}' });
    expect((await readOwnTexts(join(folder, 'nowhere'))).faults).toEqual(['cannot be read: ENOENT']);
    expect((await readOwnTexts(join(folder, 'sms.code.en.txt'))).faults).toEqual(['cannot be read: ENOTDIR']);
  });

  test('with a fault keeps the service from starting', async () => {
    const folder = await folderWith({ 'sms.code.de.txt': 'Ihr Code', 'sms.code.fr.txt': 'Votre code' });
    const started = startTestApp({ TEMPLATES_DIR: folder });
    await expect(started).rejects.toThrow(ConfigError);
    await expect(started).rejects.toMatchObject({
      faults: ['TEMPLATES_DIR: sms.code.de.txt lacks {code}', 'TEMPLATES_DIR: sms.code.fr.txt lacks {code}'],
    });
  });
});
