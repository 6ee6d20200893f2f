import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type {
  GetLoginProviderTestData,
  LoginProvider,
  ProviderTest,
  StartedProviderTest,
  StartLoginProviderTestData,
} from '../../api/schema.js';
import { Button, ButtonLink, OutsideLink } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Icon, type IconName } from '../../components/icon/icon.js';
import { Facts } from '../../components/panel/panel.js';
import { Notice, Problem, Skeleton } from '../../components/state/state.js';
import { cx } from '../../lib/cx.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './providers.module.css';

/** Goes through the whole login in a new window, and shows how far it has got. */
export function TestDialog({ provider, onClose }: { provider: LoginProvider; onClose: () => void }) {
  const { providers: text } = useText();
  const { name, title } = provider;
  const [attempt, setAttempt] = useState(0);
  const started = useQuery({
    queryKey: ['login-provider-test', name, attempt],
    queryFn: () =>
      request<StartLoginProviderTestData, StartedProviderTest>('POST', '/admin/v1/login-providers/{name}/tests', {
        path: { name },
      }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const test = useQuery({
    queryKey: ['login-provider-test', name, attempt, 'state'],
    queryFn: ({ signal }) =>
      request<GetLoginProviderTestData, ProviderTest>('GET', '/admin/v1/login-providers/{name}/tests/{id}', {
        path: { name, id: started.data?.id ?? '' },
        signal,
      }),
    enabled: started.data !== undefined,
    gcTime: 0,
    refetchInterval: ({ state }) => (state.data?.state === 'passed' ? false : 1500),
  });
  const result = test.data;
  return (
    <Dialog
      title={text.testTitle(title)}
      isWide
      onClose={onClose}
      actions={
        result !== undefined && result.state !== 'waiting' ? (
          <Button kind="main" icon="refresh" onClick={() => setAttempt(attempt + 1)}>
            {text.again}
          </Button>
        ) : (
          started.data !== undefined && (
            <OutsideLink kind="main" href={started.data.url}>
              {text.open(title)}
            </OutsideLink>
          )
        )
      }
    >
      <div className={styles.test}>
        <p className={layout.faint}>{text.testWhat}</p>
        {started.error !== null && <Problem message={text.notStarted} error={started.error} />}
        {test.error !== null && <Problem error={test.error} />}
        {started.error === null && (result === undefined ? <Skeleton rows={5} /> : <Result result={result} />)}
      </div>
    </Dialog>
  );
}

const order = ['start', 'login', 'return', 'exchange', 'account'] as const;
type StepState = 'done' | 'current' | 'failed' | 'open';
const looks: Readonly<Record<StepState, { readonly icon: IconName; readonly tone: string | undefined }>> = {
  done: { icon: 'circleCheck', tone: styles.done },
  current: { icon: 'clock', tone: styles.current },
  failed: { icon: 'circleCross', tone: styles.bad },
  open: { icon: 'circleMinus', tone: layout.faint },
};

function stateOf({ state, step }: ProviderTest, index: number): StepState {
  if (state === 'passed') return 'done';
  const reached = order.indexOf(step);
  if (index < reached) return 'done';
  if (index > reached) return 'open';
  return state === 'failed' ? 'failed' : 'current';
}

function Result({ result }: { result: ProviderTest }) {
  const { providers: text } = useText();
  const { problem, account, outcome, user_id: userId } = result;
  return (
    <>
      <ol className={styles.steps}>
        {order.map((step, index) => {
          const state = stateOf(result, index);
          return (
            <li key={step} className={styles.step}>
              <span className={looks[state].tone}>
                <Icon name={looks[state].icon} />
              </span>
              <span>{text.steps[step]}</span>
              <span className={cx(state === 'failed' && styles.bad)}>{text.stepStates[state]}</span>
            </li>
          );
        })}
      </ol>
      {result.state === 'waiting' && result.step === 'login' && <Notice kind="info">{text.waiting}</Notice>}
      {problem !== null && (
        <Notice kind="bad" live>
          {problem.message}
          <p className={styles.remedy}>{problem.remedy}</p>
        </Notice>
      )}
      {account !== null && outcome !== null && (
        <>
          <Notice kind={outcome === 'not_linked' ? 'warn' : 'good'} live>
            <strong>{text.passed}</strong> {text.outcomes[outcome]}
          </Notice>
          <Facts
            facts={[
              [
                text.subject,
                <bdi key="subject" className={styles.long}>
                  {account.subject}
                </bdi>,
              ],
              [
                text.mail,
                <span key="mail" className={styles.long}>
                  {account.email === null ? '—' : <bdi>{account.email}</bdi>}
                  {account.email !== null && (
                    <span className={styles.under}>{account.runs_mailbox ? text.mailbox : text.noMailbox}</span>
                  )}
                </span>,
              ],
              [text.name, account.name === null ? '—' : <bdi key="name">{account.name}</bdi>],
              [
                text.issuer,
                <bdi key="issuer" className={styles.long}>
                  {account.issuer}
                </bdi>,
              ],
            ]}
          />
          {userId !== null && (
            <p>
              <ButtonLink small to="/users/$id" params={{ id: userId }}>
                {text.showUser}
              </ButtonLink>
            </p>
          )}
        </>
      )}
    </>
  );
}
