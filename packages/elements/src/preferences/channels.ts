import type { PreferenceChannel, Preferences } from '@postern/client';
import { element, icon } from '../base/dom.js';
import { webAddress } from '../base/web-address.js';
import { type Page, section, switchOf } from './controls.js';

const warningPath = 'M10 3 18 17H2zM10 8v4M10 14.5v.1';

export const channelsOf = ({ channels }: Preferences) => Object.keys(channels) as PreferenceChannel[];

/** Why nothing arrives at an address, and what to do. */
function addressText({ words }: Page, channel: PreferenceChannel, { addresses }: Preferences): string | null {
  if (channel === 'push') return null;
  const state = addresses[channel];
  return state === 'ok' ? null : words[`${channel}_${state ?? 'none'}`];
}

function channelRow(page: Page, channel: PreferenceChannel, preferences: Preferences): HTMLElement {
  const { words, accountUrl } = page;
  const trouble = addressText(page, channel, preferences);
  const href = webAddress(accountUrl);
  const link = trouble !== null && href !== null && element('a', { href, part: 'link' }, words.open_account);
  const text = element('span', {}, trouble ?? words[`${channel}_hint`], link && ' ', link);
  // A missing phone number is no reason for a warning.
  const isWarning = trouble !== null && channel !== 'push' && preferences.addresses[channel] !== undefined;
  const usual = isWarning ? element('span', { class: 'warning', part: 'warning' }, icon(warningPath), text) : text;
  const off = element('span', {}, words.channel_off);
  const value = element('span', { class: 'value muted', part: 'value', id: `hint-${channel}` }, usual, off);
  // The nodes stay, because the link may have the focus.
  page.onChange(({ channels }) => {
    usual.hidden = channels[channel] === 'off';
    off.hidden = !usual.hidden;
  });
  const box = switchOf(
    page,
    channel,
    `channel-${channel}`,
    ({ channels }) => channels[channel] === 'on',
    (isOn) => page.change({ channels: { [channel]: isOn ? 'on' : 'off' } }),
  );
  box.setAttribute('aria-describedby', value.id);
  box.id = `switch-${channel}`;
  const name = element('label', { class: 'name', part: 'name', id: `channel-${channel}`, for: box.id }, words[channel]);
  return element('li', { class: 'line', part: 'row' }, element('div', { class: 'description' }, name, value), box);
}

/** Turns whole channels on and off. */
export const channelSection = (page: Page, preferences: Preferences) =>
  section(
    page,
    'channels',
    element(
      'ul',
      { class: 'lines', part: 'list' },
      ...channelsOf(preferences).map((channel) => channelRow(page, channel, preferences)),
    ),
  );
