import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { BulkAction, BulkRequest, User } from '../../api/schema.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Field } from '../../components/field/field.js';
import { nameOf } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { type Chosen, runBulk, type Tally } from './run-bulk.js';

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly chosen: Chosen;
  /** Those of the chosen users who are on the page. */
  readonly people: readonly User[];
  readonly onClose: () => void;
  readonly onStarted: () => void;
}

/**
 * Explains a bulk action and asks for confirmation. Then the action runs in the background, with its progress and a file
 * of the results.
 */
export function BulkDialog({ action, chosen, people, onClose, onStarted }: BulkDialogProps) {
  const { users } = useText();
  const start = useBulk();
  const [until, setUntil] = useState('');
  const [reason, setReason] = useState('');
  const [onlyUser] = people.length === 1 && 'ids' in chosen && chosen.ids.length === 1 ? people : [];
  const usersText = onlyUser === undefined ? groupName() : nameOf(onlyUser);

  function groupName(): string {
    return 'ids' in chosen ? users.selectedUsers(chosen.ids.length) : users.allUsers;
  }
  function lock(): BulkRequest['lock'] {
    if (action !== 'lock') return undefined;
    const text = reason.trim();
    const end = new Date(until);
    const limits = until === '' || Number.isNaN(end.getTime()) ? { permanent: true } : { until: end.toISOString() };
    return { ...limits, ...(text !== '' && { reason: text }) };
  }
  const isDestructive = action === 'delete' || action === 'deactivate';
  return (
    <ConfirmDialog
      title={users.questions[action](usersText)}
      action={users.actions[action]}
      isDestructive={isDestructive}
      confirmText={isDestructive ? confirmation(onlyUser, chosen, users.actions[action]) : undefined}
      alternative={action === 'delete' ? users.milder : undefined}
      onClose={onClose}
      onConfirm={() => {
        onStarted();
        void start(action, chosen, lock());
      }}
    >
      <p>{users.consequences[action]}</p>
      {action === 'lock' && (
        <div className={layout.stack12}>
          <Field
            label={users.lockEnds}
            hint={users.lockHint}
            type="datetime-local"
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
          />
          <Field
            label={users.reason}
            value={reason}
            maxLength={1024}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      )}
    </ConfirmDialog>
  );
}

/** The text that the operator must type: the name of one user, the number of several, or the verb if the number is unknown. */
function confirmation(only: User | undefined, chosen: Chosen, verb: string): string {
  if (only !== undefined) return only.username ?? only.id.slice(0, 8);
  return 'ids' in chosen ? String(chosen.ids.length) : verb;
}

/** Runs a bulk action with its progress in a message that can stop it. */
function useBulk() {
  const { users } = useText();
  const queries = useQueryClient();
  return async (action: BulkAction, chosen: Chosen, lock: BulkRequest['lock']): Promise<void> => {
    let isStopped = false;
    let tally: Tally = { done: 0, unchanged: 0, failed: 0, lines: [], unknown: [] };
    const running = users.running[action];
    const stop = () => {
      isStopped = true;
    };
    const progress = toast.progress(users.progress(running, 0), { name: users.stop, run: stop });
    const saveResults = () => {
      const lines = [...tally.lines, ...tally.unknown.map((id) => ({ id, result: 'unknown' }))];
      download(`${action}.ndjson`, lines.map(toLine).join(''), 'application/x-ndjson');
    };
    const summary = () => users.finished(tally.done, tally.unchanged, tally.failed, tally.unknown.length);
    try {
      const code = await runBulk(action, chosen, lock, (newTally) => {
        tally = newTally;
        const expected = 'ids' in chosen ? chosen.ids.length : Math.max(1000, newTally.lines.length * 2);
        progress.update(newTally.lines.length / expected, users.progress(running, newTally.lines.length));
        return !isStopped;
      });
      const isExport = action === 'export';
      if (isExport && tally.lines.length > 0) saveResults();
      if (code !== undefined) {
        toast.failed(users.endedEarly(code, summary()), undefined, { name: users.resultFile, run: saveResults });
        return;
      }
      toast.done(
        isStopped ? users.stopped(summary()) : summary(),
        isExport ? undefined : { name: users.resultFile, run: saveResults },
      );
    } catch (error) {
      toast.failed(`${users.notAll}: ${summary()}.`, error, { name: users.resultFile, run: saveResults });
    } finally {
      progress.end();
      void queries.invalidateQueries({ queryKey: ['users'] });
    }
  };
}

const toLine = (line: object) => `${JSON.stringify(line)}\n`;
