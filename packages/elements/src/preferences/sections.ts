import type { Preferences } from '@postern/client';
import { replaceContent } from '../base/dom.js';
import { categorySection, valuesOf } from './categories.js';
import { channelSection } from './channels.js';
import type { Page } from './controls.js';
import { quietSection } from './quiet-hours.js';
import { zoneSection } from './time-zone.js';

/** The values for which the page needs new nodes. Other values only change the nodes. */
const shapeOf = ({ channels, addresses, categories }: Preferences): string =>
  JSON.stringify([
    Object.keys(channels),
    addresses,
    Object.entries(categories).map(([name, category]) => [
      name,
      category.title,
      category.description,
      category.is_locked,
      Object.entries(category.cells).map(([column, cell]) =>
        category.is_locked ? cell.value : valuesOf(column, cell, category).length > 2,
      ),
    ]),
  ]);

/** The sections of the page. Its nodes stay while only values change, so that nobody loses the focus. */
export function createSections({ content, ...options }: Omit<Page, 'onChange'> & { readonly content: HTMLElement }): {
  readonly show: (preferences: Preferences) => void;
} {
  let updates: Parameters<Page['onChange']>[0][] = [];
  let shape = '';
  const page: Page = { ...options, onChange: (update) => updates.push(update) };

  return {
    show(preferences) {
      const next = shapeOf(preferences);
      if (next !== shape) {
        shape = next;
        updates = [];
        const root = content.getRootNode() as ShadowRoot;
        const key = (root.activeElement as HTMLElement | null)?.dataset.key;
        replaceContent(
          content,
          channelSection(page, preferences),
          categorySection(page, preferences),
          quietSection(page),
          zoneSection(page, preferences),
        );
        if (key !== undefined) content.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
      }
      for (const update of updates) update(preferences);
    },
  };
}
