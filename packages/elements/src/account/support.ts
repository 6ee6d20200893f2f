import type { OwnSupportLogin } from '@postern/client';
import { element } from '../base/dom.js';
import { fill, withLater } from '../base/texts.js';
import { timeAgo } from '../base/time.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';
import { english } from './support-texts.js';

const isOpen = ({ status }: OwnSupportLogin) => status === 'pending' || status === 'allowed' || status === 'active';

/** The logins of operators as the user: the open ones, and the last five others. Nothing if there is none. */
export async function supportSection(context: Context): Promise<HTMLElement | null> {
  const { client, language, signal, change } = context;
  const words = withLater(english, context.words);
  const { data } = await client.supportLogins({ limit: 50, signal }).page();
  const logins = [...data.filter(isOpen), ...data.filter((login) => !isOpen(login)).slice(0, 5)];
  if (logins.length === 0) return null;
  const clock = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });

  const step = (title: string, hints: readonly string[], submit: string, work: () => Promise<unknown>): Step => ({
    title,
    submit,
    introduction: hints.map((hint) => element('p', { part: 'hint' }, hint)),
    async onSubmit() {
      await work();
      return undefined;
    },
  });

  const rowOf = (login: OwnSupportLogin) => {
    const { id, status, reason, write, created_at, expires_at } = login;
    const state = fill(words[`support_${status}`], { time: clock.format(new Date(expires_at)) });
    const rights = write ? words.support_writes : words.support_reads;
    const time = element('time', { part: 'time', datetime: created_at }, timeAgo(created_at, language));
    const value = element('span', {}, state, ' · ', rights, ...(isOpen(login) ? [] : [' · ', time]));
    const allowHints = [words.allow_support_hint, ...(write ? [words.allow_support_writes] : [])];
    const allow = step(words.allow_support, allowHints, words.allow, () => client.allowSupportLogin(id, { signal }));
    const refuses = status === 'pending';
    const end: Step = {
      ...step(
        refuses ? words.refuse_support : words.end_support,
        [refuses ? words.refuse_support_hint : words.end_support_hint],
        refuses ? words.refuse : words.end,
        () => client.endSupportLogin(id, { signal }),
      ),
      isDangerous: !refuses,
    };
    return row(
      element('bdi', {}, reason),
      value,
      status === 'pending' &&
        action(`allow-${id}`, words.allow, reason, () => change(`end-${id}`, 'allow_support_login', allow)),
      isOpen(login) &&
        action(
          `end-${id}`,
          refuses ? words.refuse : words.end,
          reason,
          () => change(`end-${id}`, 'end_support_login', end),
          !refuses,
        ),
    );
  };
  return lines(...logins.map(rowOf));
}
