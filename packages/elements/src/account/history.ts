import type { ActivityEntry, Device } from '@postern/client';
import { isPosternError } from '@postern/client';
import { element, linkButton, replaceContent } from '../base/dom.js';
import { textOf } from '../base/error-text.js';
import { fill } from '../base/texts.js';
import { fullTime, timeAgo } from '../base/time.js';
import { loadSecrets } from './load-secrets.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

function deviceName({ make, model, os_name, os_version }: Device, unknown: string): string {
  const makeAndModel = [make, model].filter(Boolean).join(' ');
  return makeAndModel || [os_name, os_version].filter(Boolean).join(' ') || unknown;
}

export async function deviceSection({
  words,
  devices,
  postern,
  language,
  change,
  signal,
}: Context): Promise<HTMLElement> {
  const allDevices: Device[] = [];
  for await (const device of devices.list({ limit: 100, signal })) allDevices.push(device);
  allDevices.sort((one, other) => Number(other.current) - Number(one.current));
  const rows = allDevices.map((device) => {
    const name = deviceName(device, words.unknown_device);
    const time = element(
      'time',
      { datetime: device.last_login_at, title: fullTime(device.last_login_at, language) },
      timeAgo(device.last_login_at, language),
    );
    const lastLogin = element('span', {}, `${words.last_login} `, time);
    if (device.current) {
      const signOutButton = action('this-device', words.sign_out, name, () => void postern.logOut());
      return row(
        element('span', {}, element('bdi', {}, name), ' ', element('span', { class: 'tag' }, words.this_device)),
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
      ...{ title: words.sign_out_device, submit: words.sign_out, isDangerous: true },
      introduction: [element('p', {}, fill(words.sign_out_device_hint, { name }))],
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
  });
  return lines(...rows);
}

export async function activitySection({ words, client, language, signal, report }: Context): Promise<HTMLElement> {
  const pages = client.activity({ limit: 10, signal }).pages()[Symbol.asyncIterator]();
  const list = element('ul', { class: 'lines' });
  const moreButton = linkButton(words.show_more, () => void showMore(), 'button');
  const errorText = element('p', { class: 'error small', role: 'alert' });
  const container = element('div', {}, list, errorText, moreButton);
  const showPage = async () => {
    const { value, done } = await pages.next();
    if (done) return moreButton.remove();
    list.append(...value.data.map((entry: ActivityEntry) => entryRow(entry)));
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
      if (isPosternError(error)) errorText.textContent = await textOf(error, words);
    }
  };
  function entryRow({ text, created_at, by, address }: ActivityEntry): HTMLElement {
    const timeElement = element(
      'time',
      { datetime: created_at, title: fullTime(created_at, language) },
      timeAgo(created_at, language),
    );
    const actor = { user: address ?? '', operator: words.by_operator, system: words.by_system }[by];
    const entryNode = row(text, element('span', {}, timeElement, actor && ' · ', element('bdi', {}, actor)));
    entryNode.setAttribute('part', 'row entry');
    entryNode.tabIndex = -1;
    return entryNode;
  }
  await showPage();
  return container;
}

export function dataSection(context: Context): HTMLElement {
  const { words, client, account, change, report, signal } = context;
  const errorText = element('p', { class: 'error small', role: 'alert' });
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
        errorText.textContent = words.export_failed;
      }
    }
    isBusy = false;
  };
  const name = account.username ?? account.email ?? account.phone ?? account.id;
  const removeStep: Step = {
    ...{ title: words.delete_account, submit: words.delete_account, isDangerous: true },
    introduction: [element('p', {}, words.delete_account_confirm)],
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
