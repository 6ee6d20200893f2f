import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useMemo, useRef, useState } from 'react';
import { Button } from '../../components/button/button.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { Segments, TextArea } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { changeSubscriptions, topicsKey } from './queries.js';
import { readSubscriptions } from './read-lines.js';
import styles from './topics.module.css';

/** How many lines with a fault are shown. */
const maxShown = 50;

/** Subscribes and unsubscribes as many users as were pasted or are in a file. */
export function LinesDialog({ topicKey, onClose }: { topicKey: string; onClose: () => void }) {
  const { topics: text } = useText();
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [lines, setLines] = useState('');
  const [mode, setMode] = useState<'add' | 'remove'>('add');
  const read = useMemo(() => readSubscriptions(lines, mode === 'remove'), [lines, mode]);
  const change = useMutation({
    async mutationFn() {
      const results = await changeSubscriptions(
        topicKey,
        read.lines.map(({ line: _line, ...line }) => line),
      );
      // The number of the line is that of the request.
      return results.flatMap(({ status, line, errors, code }) =>
        status === 200
          ? []
          : [{ line: read.lines[(line ?? 0) - 1]?.line, message: errors?.[0]?.message ?? code ?? '' }],
      );
    },
    async onSuccess(faults) {
      await client.invalidateQueries({ queryKey: topicsKey });
      if (faults.length + read.refused.length > 0) return;
      toast.done(text.linesDone(read.lines.length));
      onClose();
    },
  });
  async function choose({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = currentTarget.files ?? [];
    if (file !== undefined) setLines(await file.text());
    currentTarget.value = '';
  }
  const faults = [...read.refused.map((line) => ({ line, message: text.noUser })), ...(change.data ?? [])];
  return (
    <FormDialog
      title={text.linesTitle}
      action={text.linesAction(read.lines.length)}
      isWide
      isReady={read.lines.length > 0}
      busy={change.isPending}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <div className={layout.stack16}>
        <Segments
          label={text.linesMode}
          value={mode}
          options={[
            ['add', text.modeAdd],
            ['remove', text.modeRemove],
          ]}
          onChoose={setMode}
        />
        <div className={styles.code}>
          <TextArea
            label={text.linesLabel}
            hint={text.linesHint}
            rows={8}
            spellCheck={false}
            value={lines}
            onChange={(event) => {
              setLines(event.currentTarget.value);
              change.reset();
            }}
          />
        </div>
        <div>
          <Button small icon="upload" onClick={() => input.current?.click()}>
            {text.chooseFile}
          </Button>
          <input
            ref={input}
            type="file"
            hidden
            accept=".csv,.ndjson,.jsonl,.txt,text/*"
            onChange={(event) => void choose(event)}
          />
        </div>
        {faults.length > 0 && (
          <Notice kind={change.data === undefined ? 'warn' : 'bad'} live>
            {change.data === undefined
              ? text.linesRefused(faults.length)
              : text.linesFaults(read.lines.length - change.data.length, faults.length)}
            <ul className={styles.list}>
              {faults.slice(0, maxShown).map(({ line, message }) => (
                <li key={line}>{text.lineFault(line ?? 0, message)}</li>
              ))}
            </ul>
          </Notice>
        )}
        {change.error !== null && <Problem message={text.linesFailed} error={change.error} />}
      </div>
    </FormDialog>
  );
}
