import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button, ButtonLink } from '../../components/button/button.js';
import { Panel } from '../../components/panel/panel.js';
import { Notice, Problem } from '../../components/state/state.js';
import { download } from '../../lib/download.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { Findings } from './findings.js';
import styles from './import.module.css';
import type { Reading } from './rows.js';
import { importing, type Run, reportFile, start, stop } from './state.js';

type Step = 'dryRun' | 'work';

function useStart(step: Step): () => void {
  const text = useText();
  const queries = useQueryClient();
  return () => void start(step, text, queries);
}

/** Checks the whole file before anything is created. */
export function DryRun({ source: { csv } }: { source: Reading }) {
  const { imports } = useText();
  const { dryRun: run, work } = useStore(importing);
  const startRun = useStart('dryRun');
  const hasIdentity = csv?.columns.some((target) => ['username', 'email', 'phone'].includes(target)) ?? true;
  return (
    <Panel title={imports.dryRun} hasNoPadding={run !== undefined}>
      {run === undefined ? (
        <div className={styles.step}>
          <p>{imports.dryRunAbout}</p>
          <Button
            kind="main"
            disabled={!hasIdentity}
            reason={hasIdentity ? undefined : imports.needsIdentity}
            onClick={startRun}
          >
            {imports.check}
          </Button>
        </div>
      ) : (
        <RunState step="dryRun" run={run}>
          {run.state === 'done' && (
            <p role="status">
              {run.tally.failed > 0 ? imports.someBad(run.tally.failed) : imports.allGood(run.tally.good)}{' '}
              {run.tally.exists > 0 && imports.existingStay}
            </p>
          )}
        </RunState>
      )}
      {run !== undefined && work === undefined && <Findings findings={run.findings} />}
    </Panel>
  );
}

/** Creates the users whose lines have no error, only when the operator says so. */
export function Work() {
  const { imports } = useText();
  const { dryRun, work: run } = useStore(importing);
  const startRun = useStart('work');
  if (dryRun?.state !== 'done') return null;
  const { good, failed } = dryRun.tally;
  return (
    <Panel title={imports.work} hasNoPadding={run !== undefined}>
      {run === undefined ? (
        <div className={styles.step}>
          {good === 0 ? (
            <p>{imports.noneGood}</p>
          ) : (
            <Button kind="main" changesData onClick={startRun}>
              {failed > 0 ? imports.startValid(good) : imports.start(good)}
            </Button>
          )}
        </div>
      ) : (
        <RunState step="work" run={run}>
          {run.state === 'done' && (
            <>
              <Notice kind="good" live>
                {imports.imported(run.tally.good)}
              </Notice>
              <ButtonLink to="/users">{imports.toUsers}</ButtonLink>
            </>
          )}
        </RunState>
      )}
      {run !== undefined && <Findings findings={run.findings} />}
    </Panel>
  );
}

/** The progress and the results of a run, with buttons that stop or continue it. */
function RunState({ step, run, children }: { step: Step; run: Run; children: ReactNode }) {
  const { imports } = useText();
  const { work } = useStore(importing);
  const { number } = useFormats();
  const continueRun = useStart(step);
  const { state, tally, error } = run;
  const { line, part, good, exists, failed, unsure } = tally;
  const done = good + exists + failed;
  const isLast = step === 'work' || work === undefined;
  const isFileGone = error instanceof DOMException;
  return (
    <div className={styles.run}>
      <dl className={styles.figures}>
        {(
          [
            [imports.good[step], good, undefined],
            [imports.exists, exists, undefined],
            [imports.failed[step], failed, failed > 0 ? styles.isBad : undefined],
          ] as const
        ).map(([name, value, className]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={className}>{number(value)}</dd>
          </div>
        ))}
      </dl>
      {state === 'running' && (
        <div className={styles.progress}>
          <progress value={part} aria-label={step === 'work' ? imports.work : imports.dryRun} />
          <span>{step === 'work' ? imports.importing(done) : imports.checking(done)}</span>
          <Button small onClick={stop}>
            {imports.stop}
          </Button>
        </div>
      )}
      {state === 'stopped' && (
        <Notice kind="warn" live>
          {imports.stopped(line)}
        </Notice>
      )}
      {state === 'failed' && (
        <>
          <Notice kind="warn" live>
            {imports.interrupted(line)} {unsure !== undefined && imports.unsure(...unsure)}
          </Notice>
          {isFileGone ? (
            <Notice kind="bad">{imports.fileChanged}</Notice>
          ) : (
            <Problem error={error} onRetry={continueRun} />
          )}
        </>
      )}
      {children}
      {state !== 'running' && isLast && (
        <div className={layout.buttons}>
          {state === 'stopped' && (
            <Button kind="main" changesData={step === 'work'} onClick={continueRun}>
              {imports.goOn}
            </Button>
          )}
          <Button
            icon="download"
            onClick={() => download(`import-${step === 'work' ? 'report' : 'dry-run'}.csv`, reportFile(), 'text/csv')}
          >
            {imports.report}
          </Button>
        </div>
      )}
    </div>
  );
}
