import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';

export const path = '/console/notifications';

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
export const description = (page: Page) => page.getByLabel('Description');

/** The value of a figure of the dry run. */
export const figure = (page: Page, name: string) =>
  page.locator('dl > div', { has: page.getByText(name, { exact: true }) }).locator('dd');

/** The lines of a downloaded file of NDJSON. */
export const linesOf = async (download: Promise<Download>) =>
  readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

/** Chooses a user with the search. */
export async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Find people to notify' }).fill(name);
  await page.getByRole('option', { name }).waitFor();
  await page.keyboard.press('Enter');
  await button(page, `Remove ${name}`).waitFor();
}

/** Enters ids of users as a list. */
export async function paste(page: Page, ids: readonly string[]): Promise<void> {
  await page.getByRole('radio', { name: 'Ids or addresses' }).check();
  await page.getByLabel('Ids, mail addresses or phone numbers').fill(ids.join('\n'));
}

export async function dryRun(page: Page): Promise<void> {
  await button(page, /^Run( again)?$/).click();
  await page.getByText(/checked .*, nothing sent/).waitFor();
}

/** Presses the button with the number, and confirms. */
export async function publish(page: Page, to: string): Promise<void> {
  await button(page, `Publish to ${to}`).click();
  const dialog = page.getByRole('dialog', { name: `Publish to ${to}?` });
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
}
