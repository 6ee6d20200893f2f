import { assignTarget, secretTargets, type Target, targets } from '../../../../src/users/import-file/mapping.js';
import { Panel } from '../../components/panel/panel.js';
import { Notice } from '../../components/state/state.js';
import { None, UserText } from '../../components/text/values.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import styles from './import.module.css';
import type { Reading } from './rows.js';
import { importing, isRunning, mapColumns } from './state.js';

/** The maximum number of columns on the page. A file that is read with the wrong separator can have thousands. */
const maxColumns = 100;

interface ColumnsProps {
  readonly source: { readonly sample: readonly (readonly string[])[] };
  readonly csv: NonNullable<Reading['csv']>;
}

/** The meaning of each column of a CSV file, beside its first values. */
export function Columns({ source: { sample }, csv: { columns, headings } }: ColumnsProps) {
  const { imports } = useText();
  const disabled = isRunning(useStore(importing));
  const names = headings.map((heading, index) => heading || imports.columnNumber(index + 1));
  const hasTarget = (...wanted: readonly Target[]) => columns.some((target) => wanted.includes(target));
  const hints = [
    hasTarget('name') && columns.filter((target) => target === 'name').length > 1 && imports.nameHint,
    hasTarget('password_hash') && imports.hashHint,
    hasTarget('password', 'pin') && imports.passwordHint,
  ].filter((hint) => hint !== false);
  return (
    <Panel
      title={imports.columns}
      hasNoPadding
      {...(hints.length > 0 && { footer: hints.map((hint) => <p key={hint}>{hint}</p>) })}
    >
      <table className={styles.columns}>
        <caption className="hidden-text">{imports.columns}</caption>
        <thead>
          <tr>
            <th scope="col">{imports.column}</th>
            <th scope="col">{imports.firstValues}</th>
            <th scope="col">{imports.becomes}</th>
          </tr>
        </thead>
        <tbody>
          {columns.slice(0, maxColumns).map((target, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two columns can have the same heading
            <tr key={index}>
              <th scope="row">
                <UserText strong text={names[index] ?? ''} />
              </th>
              <td>
                <Values values={sample.map((cells) => cells[index] ?? '')} isSecret={secretTargets.includes(target)} />
              </td>
              <td>
                <select
                  className={styles.select}
                  aria-label={imports.becomesOf(names[index] ?? '')}
                  disabled={disabled}
                  value={target}
                  data-none={target === 'none' || undefined}
                  onChange={(event) => {
                    const chosen = targets[event.currentTarget.selectedIndex];
                    if (chosen !== undefined) mapColumns(assignTarget(columns, index, chosen));
                  }}
                >
                  {targets.map((name) => (
                    <option key={name} value={name}>
                      {imports.targets[name]}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {columns.length > maxColumns && <p className={styles.more}>{imports.moreColumns(columns.length - maxColumns)}</p>}
      {!hasTarget('username', 'email', 'phone') && (
        <div className={styles.around}>
          <Notice kind="warn">{imports.needsIdentity}</Notice>
        </div>
      )}
    </Panel>
  );
}

function Values({ values, isSecret }: { values: readonly string[]; isSecret: boolean }) {
  const { imports } = useText();
  const firstPresent = values.filter((value) => value.trim() !== '').slice(0, 3);
  if (firstPresent.length === 0) return <None />;
  if (isSecret) return <span className={styles.quiet}>{imports.hiddenValue}</span>;
  return firstPresent.map((value, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: values can repeat, and never move
    <UserText key={index} quiet text={value} />
  ));
}

/** The first lines of an NDJSON file. Its members are those of the API. */
export function FirstLines({ lines }: { lines: readonly (readonly string[])[] }) {
  const { imports } = useText();
  return (
    <Panel title={imports.firstLines}>
      {lines.slice(0, 3).map(([line = ''], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines can repeat, and never move
        <code key={index} className={styles.raw}>
          <UserText text={maskSecrets(line, imports.hiddenValue)} />
        </code>
      ))}
    </Panel>
  );
}

/** The line with a word in place of each secret. */
function maskSecrets(line: string, word: string): string {
  return line.replace(/("(?:password|password_hash|pin)"\s*:\s*)"(?:[^"\\]|\\.)*"?/g, `$1"${word}"`);
}
