import { Dialog } from '../components/dialog/dialog.js';
import { Switch } from '../components/field/field.js';
import { letterShortcuts } from '../lib/preferences.js';
import { useStore } from '../lib/store.js';
import { useText } from '../text/text.js';
import styles from './help.module.css';
import { shortcuts } from './keyboard.js';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** All shortcuts of the shell and of the open page. */
export function Help({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { keys } = text.shell;
  const allShortcuts = useStore(shortcuts);
  const lettersAreOn = useStore(letterShortcuts) === 'on';
  const shortcutsOf = (groupName: string) =>
    allShortcuts.filter(({ group }) => group === groupName).map(({ keys, name }) => [keys, name] as const);
  const groups = [
    [keys.everywhere, [...shortcutsOf('everywhere'), ['/', keys.search], ['Escape', keys.back]]],
    [keys.pages, shortcutsOf('pages')],
    [keys.thisPage, shortcutsOf('thisPage')],
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
    <Dialog title={keys.title} onClose={onClose} isWide>
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
                      <Keys keys={sequence} separator={keys.after} />
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
          checked={lettersAreOn}
          onChange={(event) => letterShortcuts.set(event.currentTarget.checked ? 'on' : 'off')}
        />
        <p>{keys.note}</p>
      </div>
    </Dialog>
  );
}

function Keys({ keys, separator }: { keys: string; separator: string }) {
  const names: Record<string, string> = { 'mod+k': isApple ? '⌘ K' : 'Ctrl K', Escape: 'Esc' };
  const parts = (names[keys] ?? keys).split(' ');
  return (
    <>
      {parts.map((part, index) => (
        <span key={part}>
          {index > 0 && keys.startsWith('g ') && <span className={styles.then}>{separator}</span>}{' '}
          <kbd>{part.length === 1 ? part.toUpperCase() : part}</kbd>
        </span>
      ))}
    </>
  );
}
