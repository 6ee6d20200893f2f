import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { spanish } from '../../packages/elements/src/sign-in/es.js';
import { english } from '../../packages/elements/src/sign-in/texts.js';
import { ConfigError } from '../../src/config/config.js';
import { readCustomTemplates } from '../../src/messages/custom-templates.js';
import { textRules } from '../../src/messages/kinds.js';
import { builtInTexts, createTemplates, placeholder } from '../../src/messages/templates.js';
import { temporaryFolder } from '../cli/command.js';
import { startTestApp } from '../support/app.js';

async function folderWith(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  return folder.path;
}

const errorsOf = async (files: Readonly<Record<string, string | Buffer>>) =>
  (await readCustomTemplates(await folderWith(files))).errors;

const brand = { name: 'Example', color: '#0f766e', logo: undefined };
const templates = createTemplates({ brand, own: new Map() });
const code = { code: '482913', minutes: '5' };

describe('the built-in templates', () => {
  test('exist for every kind in both languages, and follow the rules for the operator’s templates', async () => {
    const texts = builtInTexts();
    expect([...texts.keys()].sort()).toEqual([...textRules.keys()].sort());
    const files = [...texts].flatMap(([kind, byLanguage]) =>
      [...byLanguage].map(([language, text]) => [`${kind}.${language}.txt`, text] as const),
    );
    expect(files).toHaveLength(2 * textRules.size);
    expect(await errorsOf(Object.fromEntries(files))).toEqual([]);
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
  ])('for the locale %j are in %s', (locale, language) => {
    const texts = { en: /^Your Example code is 482913\./, es: /^Tu código de Example es 482913\./ };
    expect(templates.render('sms.code', locale, code).text).toMatch(texts[language as 'en' | 'es']);
  });

  test('render without placeholders, also when a value looks like one', () => {
    for (const [kind] of textRules) {
      const detailsOfKinds = {
        host: 'example.com',
        id: '7',
        console: 'https://example.com/console',
        link: 'https://x.example',
      };
      const values = { ...code, ...detailsOfKinds, time: 'now', device: '{code} $& \r\nBcc: x', address: '' };
      const { subject, text } = templates.render(kind, 'es', values);
      expect(subject).not.toMatch(/[\r\n]/);
      expect(`${subject} ${text}`.replaceAll('{code} $&', '')).not.toMatch(placeholder);
    }
  });

  test('show an unknown device and network as unknown', () => {
    expect(templates.render('email.password_changed', 'en', { time: 'now' }).text).toContain('Device: unknown');
    expect(templates.render('email.password_changed', 'es', { time: 'now' }).text).toContain('Red: desconocido');
  });

  test('advise to recover the account, if somebody else may have changed the password', () => {
    const adviceOf = (
      kind: 'sms.password_changed' | 'sms.account_recovered' | 'sms.new_device',
      language: 'en' | 'es',
    ) => templates.render(kind, language, {}).text.split('. ').at(-1);
    expect(adviceOf('sms.password_changed', 'en')).toBe('If this was not you, recover your account.');
    expect(adviceOf('sms.account_recovered', 'es')).toBe('Si no has sido tú, recupera tu cuenta.');
    expect(adviceOf('sms.new_device', 'en')).toBe('If this was not you, check your devices.');
  });

  test('do not advise users of a locked account to sign in', () => {
    for (const channel of ['sms', 'email', 'push']) {
      const [en, es] = ['en', 'es'].map((locale) => templates.render(`${channel}.account_locked`, locale, {}).text);
      expect(en).toContain('If it stays locked, ask the people who run Example.');
      expect(es).toContain('Si sigue bloqueada, pregunta a quien administra Example.');
      for (const text of [en, es]) expect(text).not.toMatch(/devices|password if|dispositivos que|cambia tu/);
    }
  });

  test('name what the elements show as the elements do, and say "sign in" everywhere', () => {
    const render = (locale: string) => templates.render('email.registration_unproven', locale, {}).text;
    expect(render('en')).toContain(`"${english.forgot_password}"`);
    expect(render('es')).toContain(`«${spanish.forgot_password}»`);
    for (const [kind, texts] of builtInTexts()) {
      expect([kind, texts.get('en')]).toEqual([kind, expect.not.stringMatching(/\blog(ged|ging)?[ -]?(in|out)\b/i)]);
      expect([kind, texts.get('es')]).toEqual([
        kind,
        expect.not.stringMatching(/\b(usted|entrar|(un|el|del) acceso)\b/i),
      ]);
    }
  });
});

describe('TEMPLATES_DIR', () => {
  test('replaces templates and adds languages', async () => {
    const folder = await folderWith({
      'sms.code.en.txt': 'Code: {code}\n',
      'sms.code.fr.txt': '{app} : {code}',
      'sms.code.fr-CH.txt': '\uFEFF{app}, Genève : {code}\r\n',
      'email.code.fr.txt': 'Subject: Le code {code}\n\nVotre code : {code}\n',
      'README.md': 'not a text',
      '.hidden.txt': 'neither',
    });
    const { texts, errors } = await readCustomTemplates(folder);
    expect(errors).toEqual([]);
    const own = createTemplates({ brand, own: texts });
    const render = (kind: string, locale: string) => own.render(kind, locale, code);
    expect(render('sms.code', 'en-US').text).toBe('Code: 482913');
    expect(render('sms.code', 'it').text).toBe('Code: 482913');
    expect(render('sms.code', 'fr-FR').text).toBe('Example : 482913');
    expect(render('sms.code', 'fr-CH').text).toBe('Example, Genève : 482913');
    expect(render('sms.code', 'es').text).toMatch(/^Tu código/);
    expect(render('email.code', 'fr')).toMatchObject({ subject: 'Le code 482913', text: 'Votre code : 482913' });
    expect(render('email.code', 'fr').html).toContain('<html lang="fr">');
    expect(render('email.recovery_code', 'fr').subject).toBe('482913 is your Example recovery code');
  });

  test('reports all errors at once', async () => {
    const errors = await errorsOf({
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
    expect(errors).toEqual([
      'email.code.de.txt must start with the line "Subject: …", then an empty line, then the text',
      'email.code.fr.txt lacks {code}',
      'email.code.it.txt must start with the line "Subject: …", then an empty line, then the text',
      'push.new_device.en.txt contains {code}, which is not allowed; allowed are {app}, {device}, {time}, {address}',
      'push.new_device.es.txt is empty',
      'sms.cod.en.txt has an unknown kind; the nearest is sms.code',
      'sms.code.de.txt lacks {code}',
      'sms.code.fr.txt contains {cdoe}, which is not allowed; allowed are {app}, {code}, {minutes}',
      'sms.code.fr.txt contains {name}, which is not allowed; allowed are {app}, {code}, {minutes}',
      'sms.code.it.txt contains a brace that is not part of a placeholder',
      'sms.code.nl.txt cannot be read: it is not UTF-8',
      'sms.code.pt.txt is longer than 16384 bytes',
      'sms.code.txt is not named <kind>.<language>.txt, such as sms.code.fr.txt',
    ]);
  });

  test('that does not exist, or is not a folder, is an error', async () => {
    const folder = await folderWith({ 'sms.code.en.txt': '{code}' });
    expect((await readCustomTemplates(join(folder, 'nowhere'))).errors).toEqual(['cannot be read: ENOENT']);
    expect((await readCustomTemplates(join(folder, 'sms.code.en.txt'))).errors).toEqual(['cannot be read: ENOTDIR']);
  });

  test('with an error prevents the start of the service', async () => {
    const folder = await folderWith({ 'sms.code.de.txt': 'Ihr Code', 'sms.code.fr.txt': 'Votre code' });
    const started = startTestApp({ TEMPLATES_DIR: folder });
    await expect(started).rejects.toThrow(ConfigError);
    await expect(started).rejects.toMatchObject({
      errors: ['TEMPLATES_DIR: sms.code.de.txt lacks {code}', 'TEMPLATES_DIR: sms.code.fr.txt lacks {code}'],
    });
  });
});
