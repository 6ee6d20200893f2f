import { type DragEvent, useState } from 'react';
import type { Delimiter } from '../../../../src/users/import-file/csv.js';
import { type Encoding, encodings } from '../../../../src/users/import-file/decode.js';
import { Checkbox, Select } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { Panel } from '../../components/panel/panel.js';
import { Notice } from '../../components/state/state.js';
import { UserText } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './import.module.css';
import type { Reading } from './rows.js';
import { chooseFile, importing, isRunning, readAs } from './state.js';

/** Picks a file, or takes one that is dropped. */
export function ChooseFile() {
  const { imports } = useText();
  const { isReading, unreadable } = useStore(importing);
  const [isDraggedOver, setIsDraggedOver] = useState(false);
  const chooseFirst = (files: FileList | null) => {
    const [file] = files ?? [];
    if (file !== undefined) void chooseFile(file);
  };
  const drag = (isInside: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setIsDraggedOver(isInside);
  };
  return (
    <Panel title={imports.file}>
      <div className={layout.stack12}>
        {unreadable !== undefined && (
          <Notice kind="bad" live>
            {imports.unreadable[unreadable]}
          </Notice>
        )}
        <label
          className={cx(styles.drop, isDraggedOver && styles.over)}
          onDragOver={drag(true)}
          onDragLeave={drag(false)}
          onDrop={(event) => {
            drag(false)(event);
            chooseFirst(event.dataTransfer.files);
          }}
        >
          <input
            type="file"
            className="hidden-text"
            accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,text/csv,application/x-ndjson"
            onChange={(event) => {
              chooseFirst(event.currentTarget.files);
              // The same file can be chosen again after a correction.
              event.currentTarget.value = '';
            }}
          />
          <Icon name="upload" size={20} />
          <span>
            <strong>{imports.choose}</strong> {imports.orDrop}
          </span>
          <span className={styles.quiet}>{isReading ? imports.reading : imports.formats}</span>
        </label>
        <p className={styles.quiet}>{imports.nothingYet}</p>
      </div>
    </Panel>
  );
}

const encodingNames: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  'windows-1252': 'Windows-1252',
};

/** The encoding and the separator of the file. The console guesses them, and the operator can change them. */
export function ReadingOptions({ source: { file, encoding, csv } }: { source: Reading }) {
  const { imports } = useText();
  const disabled = isRunning(useStore(importing));
  return (
    <Panel
      title={<UserText text={file.name} />}
      note={`${imports.size(file.size)} · ${csv === undefined ? imports.ndjson : imports.csv}`}
    >
      <div className={styles.fields}>
        <Select
          label={imports.encoding}
          disabled={disabled}
          value={encoding}
          options={encodings.map((name) => [name, encodingNames[name]])}
          onChoose={(chosen) => void readAs({ encoding: chosen })}
        />
        {csv !== undefined && (
          <>
            <Select
              label={imports.delimiter}
              disabled={disabled}
              value={csv.delimiter}
              options={Object.entries(imports.delimiters).map(([value, name]) => [value as Delimiter, name])}
              onChoose={(delimiter) => void readAs({ delimiter })}
            />
            <div className={styles.tick}>
              <Checkbox
                label={imports.hasHeadings}
                disabled={disabled}
                checked={csv.hasHeadings}
                onChange={(event) => void readAs({ hasHeadings: event.currentTarget.checked })}
              />
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}
