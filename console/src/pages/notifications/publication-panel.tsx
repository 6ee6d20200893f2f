import { Button, ButtonLink } from '../../components/button/button.js';
import { Panel } from '../../components/panel/panel.js';
import { Notice, Problem } from '../../components/state/state.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './notifications.module.css';
import { canContinue, continuePublication, dismiss, type Publication, stop } from './publish.js';

interface PanelProps {
  readonly publication: Publication;
  /** The form is needed for another notification. */
  readonly onAgain: () => void;
}

/** The progress of a publication, how it ended, and its results. */
export function PublicationPanel({ publication, onAgain }: PanelProps) {
  const { publish: text } = useText().notifications;
  const { state, outcomes, error, plan } = publication;
  const isRunning = state === 'running' || state === 'stopping';
  const published = outcomes.filter(({ result }) => result === 'published');
  const [onlyRecipient] = published.length === 1 && plan.ids.length === 1 ? published : [];
  return (
    <Panel title={text.title}>
      <div className={styles.publication}>
        {isRunning ? (
          <Running publication={publication} />
        ) : (
          <Ended publication={publication} published={published.length} />
        )}
        {state === 'failed' && <Problem error={error} />}
        {!isRunning && (
          <div className={layout.buttons}>
            {state === 'done' ? (
              <Button
                kind="main"
                icon="plus"
                onClick={() => {
                  onAgain();
                  dismiss();
                }}
              >
                {text.another}
              </Button>
            ) : (
              canContinue(publication) && (
                <Button kind="main" icon="send" changesData onClick={() => void continuePublication(publication)}>
                  {text.goOn}
                </Button>
              )
            )}
            {onlyRecipient?.id !== undefined && (
              <ButtonLink to="/notifications" search={{ view: 'find', id: onlyRecipient.id }}>
                {text.seeDelivery}
              </ButtonLink>
            )}
            {outcomes.length > 0 && (
              <Button icon="download" onClick={() => saveResults(publication)}>
                {text.resultFile}
              </Button>
            )}
            <Button kind="ghost" onClick={dismiss}>
              {text.sameAgain}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

function saveResults({ outcomes, plan }: Publication): void {
  const lines = outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`);
  download(`notification-${plan.key.slice(0, 8)}.ndjson`, lines.join(''), 'application/x-ndjson');
}

function Running({ publication: { state, outcomes, plan } }: Pick<PanelProps, 'publication'>) {
  const { publish: text } = useText().notifications;
  return (
    <>
      <div className={styles.bar} role="status">
        {state === 'stopping' ? text.stopping : text.progress(outcomes.length, plan.ids.length)}
      </div>
      <progress value={outcomes.length} max={plan.ids.length} aria-label={text.running} />
      <p className={layout.quiet}>{text.leave}</p>
      <div className={layout.buttons}>
        <Button disabled={state === 'stopping'} onClick={stop}>
          {text.stop}
        </Button>
      </div>
    </>
  );
}

function Ended({ publication, published }: Pick<PanelProps, 'publication'> & { published: number }) {
  const { publish: text } = useText().notifications;
  const { state, outcomes, plan } = publication;
  const all = plan.ids.length;
  const gone = outcomes.length - published;
  const continueText = canContinue(publication) ? text.onlyOnce : state === 'done' ? '' : text.tooOld;
  const endTexts = {
    done: text.done(published),
    stopped: text.stopped(published, all),
    failed: text.failed(published, all),
    interrupted: text.interrupted(all),
  };
  const kind = state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'warn';
  return (
    <Notice kind={kind} live>
      {state !== 'running' && state !== 'stopping' && endTexts[state]} {gone > 0 && text.gone(gone)} {continueText}
    </Notice>
  );
}
