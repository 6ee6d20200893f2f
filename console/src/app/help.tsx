import { Dialog } from '../components/dialog/dialog.js';
import { Switch } from '../components/field/field.js';
import { letters } from '../lib/preferences.js';
import { useStore } from '../lib/store.js';
import { useText } from '../text/text.js';
import styles from './help.module.css';
import { shortcuts } from './keyboard.js';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** All shortcuts of the shell and of the open page. */
export function Help({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { keys } = text.shell;
  const all = useStore(shortcuts);
  const isOn = useStore(letters) === 'on';
  const of = (group: string) => all.filter((one) => one.group === group).map((one) => [one.keys, one.name] as const);
  const groups = [
    [keys.everywhere, [...of('everywhere'), ['/', keys.search], ['Escape', keys.back]]],
    [keys.pages, of('pages')],
    [keys.thisPage, of('thisPage')],
    [
      keys.lists,
      [
        ['j k', keys.rows],
        ['Home End', keys.ends],
        ['Enter', keys.open],
        ['x', keys.select],
        ['Shift x', keys.range],
      ],
    ],
  ] as const;
  return (
    <Dialog title={keys.title} onClose={onClose} wide>
      <div className={styles.groups}>
        {groups
          .filter(([, list]) => list.length > 0)
          .map(([name, list]) => (
            <section key={name}>
              <h3>{name}</h3>
              <dl className={styles.list}>
                {list.map(([sequence, meaning]) => (
                  <div key={sequence}>
                    <dt>{meaning}</dt>
                    <dd>
                      <Keys of={sequence} after={keys.after} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
      <div className={styles.setting}>
        <Switch
          label={text.shell.letters}
          checked={isOn}
          onChange={(event) => letters.set(event.currentTarget.checked ? 'on' : 'off')}
        />
        <p>{keys.note}</p>
      </div>
    </Dialog>
  );
}

function Keys({ of, after }: { of: string; after: string }) {
  const names: Record<string, string> = { 'mod+k': isApple ? '⌘ K' : 'Ctrl K', Escape: 'Esc' };
  const parts = (names[of] ?? of).split(' ');
  return (
    <>
      {parts.map((part, index) => (
        <span key={part}>
          {index > 0 && of.startsWith('g ') && <span className={styles.then}>{after}</span>}{' '}
          <kbd>{part.length === 1 ? part.toUpperCase() : part}</kbd>
        </span>
      ))}
    </>
  );
}
