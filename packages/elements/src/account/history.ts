import type { ActivityEntry, Device } from '@postern/client';
import { isPosternError } from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { textOf } from '../base/error-text.js';
import { smallButton } from '../base/small-button.js';
import { countText, fill, isFallback, withLater, withoutMarks } from '../base/texts.js';
import { fullTime, timeAgo } from '../base/time.js';
import { english } from './activity-texts.js';
import { titleOf } from './away.js';
import { loadSecrets } from './load-secrets.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

/** The browser or the model, and the system. */
function deviceName({ make, model, os_name, os_version }: Device, words: Context['words']): string {
  const device = [make, model].filter(Boolean).join(' ');
  const system = [os_name, os_version].filter(Boolean).join(' ');
  if (device && system) return fill(words.device_on, { device, system });
  return device || system || words.unknown_device;
}

const phonePath = 'M6.5 2.5h7a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1zM9 15h2';
const computerPath = 'M4.5 4h11a1 1 0 0 1 1 1v8h-13V5a1 1 0 0 1 1-1zM2 16h16';
const isPhone = ({ os_name: system }: Device) => /android|ios|iphone|ipad/i.test(system ?? '');

/** Where the last logins came from, by device. The newest one of a device counts. */
async function addressesOf({ client, signal }: Context): Promise<ReadonlyMap<string, string>> {
  const logins = await client.activity({ limit: 100, filter: 'type:eq:login.approved', signal }).page();
  return new Map(
    [...logins.data].reverse().flatMap(({ device_id: id, address }) => (id && address ? [[id, address] as const] : [])),
  );
}

/** A text with a time in it, which shows the whole time when it is pointed at. */
function textWithTime(text: string, time: string, language: string): HTMLElement {
  const [before = '', after = ''] = withoutMarks(text).split('{time}');
  const attributes = { part: 'time', lang: language, dir: 'auto', datetime: time, title: fullTime(time, language) };
  // An English text in a page of another language: the time in it is in the language of the page.
  const english = isFallback(text) && { lang: 'en', dir: 'ltr' };
  return element('span', english || {}, before, element('time', attributes, timeAgo(time, language)), after);
}

export async function deviceSection(context: Context): Promise<HTMLElement> {
  const { words, devices, postern, language, change, signal } = context;
  const addresses = addressesOf(context);
  const allDevices: Device[] = [];
  for await (const device of devices.list({ limit: 100, signal })) allDevices.push(device);
  allDevices.sort((one, other) => Number(other.current) - Number(one.current));
  const knownAddresses = await addresses;
  const rowOf = (device: Device) => {
    const name = deviceName(device, words);
    const address = knownAddresses.get(device.id);
    const text = address === undefined ? words.last_login : fill(words.last_login_from, { address });
    const lastLogin = textWithTime(text, device.last_login_at, language);
    if (device.current) {
      const signOutButton = action('this-device', words.sign_out, name, () => void postern.logOut());
      return row(
        element(
          'span',
          {},
          element('bdi', {}, name),
          ' ',
          element('span', { class: 'tag', part: 'tag' }, words.this_device),
        ),
        lastLogin,
        signOutButton,
        allDevices.length > 1 &&
          action(
            'other-devices',
            words.sign_out_others,
            words.devices,
            () => change('this-device', 'log_out_everywhere'),
            true,
          ),
      );
    }
    const removeStep: Step = {
      title: words.sign_out_device,
      submit: words.sign_out,
      isDangerous: true,
      introduction: [element('p', { part: 'hint' }, fill(words.sign_out_device_hint, { name }))],
      async onSubmit() {
        await devices.remove(device.id);
        return undefined;
      },
    };
    return row(
      element('bdi', {}, name),
      lastLogin,
      action(
        `device-${device.id}`,
        words.sign_out,
        name,
        () => change('this-device', 'remove_device', removeStep),
        true,
      ),
    );
  };
  return lines(
    ...allDevices.map((device) => {
      const line = rowOf(device);
      line.prepend(icon(isPhone(device) ? phonePath : computerPath));
      return line;
    }),
  );
}

/** What happened, in words of the reader's language. */
export function eventText(
  { type, params }: { readonly type: string; readonly params: ActivityEntry['params'] },
  words: Readonly<Record<string, string | undefined>>,
  language: string,
): string {
  const key = `event_${type.replaceAll('.', '_')}`;
  const detailed = words[`${key}_of`];
  const values: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(params)) {
    // Names of fields are texts, such as `email`. A name without a text would be in no language.
    const names = name === 'provider' ? [value] : value.split(', ').map((field) => words[field]);
    if (names.every((text) => text !== undefined)) values[name] = new Intl.ListFormat(language).format(names);
  }
  if (detailed !== undefined && params.left !== undefined) return countText(detailed, Number(params.left), language);
  const isComplete = detailed?.match(/\{\w+\}/g)?.every((hole) => Object.hasOwn(values, hole.slice(1, -1)));
  return isComplete ? fill(detailed ?? '', values) : (words[key] ?? words.event_other ?? type);
}

export async function activitySection(context: Context): Promise<HTMLElement> {
  const { client, language, signal, report, offered } = context;
  const words = withLater(english, context.words);
  const pages = client.activity({ limit: 10, signal }).pages()[Symbol.asyncIterator]();
  const list = element('ul', { class: 'lines', part: 'list' });
  const moreButton = smallButton(words.show_more, () => void showMore());
  const errorText = element('p', { class: 'error small', part: 'issue', role: 'alert' });
  const container = element('div', {}, list, errorText, moreButton);
  let hasRegistered = false;
  /** The registration, which is later in the same moment, says that the account was created. */
  const isNews = ({ type }: ActivityEntry) => {
    hasRegistered ||= type === 'registration.completed';
    return type !== 'user.created' || !hasRegistered;
  };
  const showPage = async () => {
    const { value, done } = await pages.next();
    if (done) return moreButton.remove();
    list.append(...value.data.filter(isNews).map((entry: ActivityEntry) => entryRow(entry)));
    if (value.page.next_cursor === null) moreButton.remove();
  };
  const showMore = async () => {
    const countBefore = list.children.length;
    try {
      replaceContent(errorText);
      await showPage();
      const firstAdded = list.children[countBefore];
      if (!moreButton.isConnected && firstAdded instanceof HTMLElement) firstAdded.focus();
    } catch (error) {
      if (signal.aborted) return;
      report(error);
      if (isPosternError(error)) replaceContent(errorText, await textOf(error, words));
    }
  };
  function entryRow(entry: ActivityEntry): HTMLElement {
    const { type, created_at, by, address } = entry;
    const { provider, ...others } = entry.params;
    // People know a provider by its title.
    const params = { ...others, ...(provider !== undefined && { provider: titleOf(offered.logins, provider) }) };
    const timeElement = element(
      'time',
      { part: 'time', datetime: created_at, title: fullTime(created_at, language) },
      timeAgo(created_at, language),
    );
    const actor = { user: address ?? '', operator: words.by_operator, system: words.by_system }[by];
    const entryNode = row(
      eventText({ type, params }, words, language),
      element('span', {}, timeElement, actor && ' · ', element('bdi', {}, actor)),
    );
    entryNode.setAttribute('part', 'row entry');
    entryNode.tabIndex = -1;
    return entryNode;
  }
  await showPage();
  return container;
}

export function dataSection(context: Context): HTMLElement {
  const { words, client, account, change, report, signal } = context;
  const errorText = element('p', { class: 'error small', part: 'issue', role: 'alert' });
  let isBusy = false;
  const download = async () => {
    if (isBusy) return;
    isBusy = true;
    errorText.textContent = '';
    try {
      const { saveExport } = await loadSecrets();
      await saveExport(context);
    } catch (error) {
      if (!signal.aborted) {
        report(error);
        replaceContent(errorText, words.export_failed);
      }
    }
    isBusy = false;
  };
  const name = account.username ?? account.email ?? account.phone ?? account.id;
  const removeStep: Step = {
    title: words.delete_account,
    submit: words.delete_account,
    isDangerous: true,
    introduction: [element('p', { part: 'hint' }, words.delete_account_confirm)],
    fields: [{ name: 'confirm', kind: 'text', label: fill(words.type_to_delete, { name }) }],
    async onSubmit({ confirm = '' }) {
      if (confirm.trim() !== name) {
        const introduction = [
          element('p', { class: 'issue', part: 'issue', role: 'alert' }, fill(words.not_the_name, { name })),
        ];
        return { ...removeStep, introduction };
      }
      await client.deleteAccount();
      return undefined;
    },
  };
  return element(
    'div',
    {},
    lines(
      row(
        words.export,
        words.export_hint,
        action('export', words.download, words.export, () => void download()),
      ),
      row(
        words.delete_account,
        words.delete_account_hint,
        action(
          'delete',
          words.delete,
          words.delete_account,
          () => change('delete', 'delete_account', removeStep),
          true,
        ),
      ),
    ),
    errorText,
  );
}
