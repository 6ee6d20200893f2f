import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { ListLoginProvidersData, LoginProvider, ProviderProblem } from '../../api/schema.js';
import { Badge, type BadgeKind } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Facts, Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded, Notice } from '../../components/state/state.js';
import { Secret, Time } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './providers.module.css';
import { TestDialog } from './test-dialog.js';

const example = '{"google": {"preset": "google", "client_id": "…", "client_secret": "…", "sign_up": true}}';

/** The providers whose accounts can log in: whether they work, what to do if not, and a test of the whole login. */
export function Providers() {
  const { providers: text } = useText();
  const [tested, setTested] = useState<LoginProvider>();
  const query = useQuery({
    queryKey: ['login-providers'],
    queryFn: ({ signal }) =>
      request<ListLoginProvidersData, LoginProvider[]>('GET', '/admin/v1/login-providers', { signal }),
    refetchInterval: 15_000,
  });
  return (
    <Page title={text.title}>
      <Loaded query={query} what={text.failed} rows={8}>
        {(list) =>
          list.length === 0 ? (
            <Panel>
              <Empty title={text.none}>{text.noneWhy}</Empty>
              <div className={styles.example}>
                <Secret label={text.example} value={example} />
              </div>
            </Panel>
          ) : (
            list.map((provider) => (
              <Provider key={provider.name} provider={provider} onTest={() => setTested(provider)} />
            ))
          )
        }
      </Loaded>
      {tested !== undefined && (
        <TestDialog
          provider={tested}
          onClose={() => {
            setTested(undefined);
            void query.refetch();
          }}
        />
      )}
    </Page>
  );
}

const badges: Readonly<Record<LoginProvider['state'], BadgeKind>> = {
  works: 'good',
  fails: 'bad',
  unused: 'muted',
  incomplete: 'waiting',
};

function Provider({ provider, onTest }: { provider: LoginProvider; onTest: () => void }) {
  const { providers: text } = useText();
  const { title, state, redirect_uri: redirectUri, problems } = provider;
  const fault = state === 'fails' ? problems.find(({ is_fault }) => is_fault) : undefined;
  const others = problems.filter((problem) => problem !== fault);
  return (
    <Panel
      title={<bdi>{title}</bdi>}
      note={<Badge kind={badges[state]}>{text.states[state]}</Badge>}
      actions={
        redirectUri !== null && (
          <Button small icon="play" label={text.testOf(title)} changesData onClick={onTest}>
            {text.test}
          </Button>
        )
      }
    >
      <div className={layout.stack16}>
        {state === 'incomplete' && (
          <Notice kind="warn">
            {text.incomplete}
            <ul className={styles.gaps}>
              {provider.missing.map(({ code, message }) => (
                <li key={code}>{message}</li>
              ))}
            </ul>
          </Notice>
        )}
        {fault !== undefined && (
          <Notice kind="bad">
            <strong>{text.failsSince}</strong> {fault.message}
            <p className={styles.remedy}>{fault.remedy}</p>
            <p className={styles.happened}>
              {text.lastTime} <Time value={fault.happened_at} />
            </p>
          </Notice>
        )}
        {state === 'unused' && <Notice kind="info">{text.neverUsed}</Notice>}
        {redirectUri !== null && <Secret label={text.redirectUri} value={redirectUri} />}
        <Facts
          facts={[
            [text.worked, <Time key="worked" value={provider.worked_at} emptyText={text.never} isFull />],
            [text.signUp, provider.sign_up ? text.signsUp : text.noSignUp],
            [
              text.issuer,
              <bdi key="issuer" className={styles.long}>
                {provider.issuer}
              </bdi>,
            ],
            [text.authenticator, <code key="authenticator">{provider.authenticator}</code>],
          ]}
        />
        {others.length > 0 && (
          <div>
            <h3 className={styles.subtitle}>
              {text.refused} <span className={layout.faint}>{text.refusedNote}</span>
            </h3>
            <ul className={styles.refused}>
              {others.map((problem) => (
                <ProblemRow key={problem.code} problem={problem} />
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  );
}

function ProblemRow({ problem: { message, remedy, happened_at } }: { problem: ProviderProblem }) {
  return (
    <li className={styles.problem}>
      <span>{message}</span>
      <Time value={happened_at} focusable />
      <p>{remedy}</p>
    </li>
  );
}
