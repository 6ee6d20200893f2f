import { hashKey, QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { session } from '../api/client.js';
import { connection } from '../api/connection.js';
import { SignedOutError } from '../api/problem.js';
import { Problem } from '../components/state/state.js';
import { forgetDrafts } from '../lib/drafts.js';
import { rootPath } from '../lib/root.js';
import { useStore } from '../lib/store.js';
import { TextProvider, useText } from '../text/text.js';
import { Entrance } from './entrance.js';
import { ConfirmationGate, EndedGate } from './gates.js';
import { loadCode, reloadOnce, UpgradedError } from './load-code.js';
import { operatorQuery } from './operator.js';
import { router } from './routes.js';
import { followSignOut } from './sign-out.js';

/** Nothing was typed before these pages, so after an upgrade they reload the page at once. */
async function loadEntrance<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await loadCode(load);
  } catch (error) {
    if (error instanceof UpgradedError && reloadOnce()) return new Promise(() => undefined);
    throw error;
  }
}
const SignInPage = lazy(() =>
  loadEntrance(() => import('../pages/sign-in/sign-in.js')).then(({ SignInPage: Page }) => ({ default: Page })),
);
const SetUpPage = lazy(() =>
  loadEntrance(() => import('../pages/set-up/set-up.js')).then(({ SetUpPage: Page }) => ({ default: Page })),
);

/** The component that shows a problem retries after a countdown, so queries do not retry. */
const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 5000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});

const operatorHash = hashKey(operatorQuery.queryKey);

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TextProvider>
        <Console />
      </TextProvider>
    </QueryClientProvider>
  );
}

/** The set-up, the sign-in page or the console, depending on the session. */
function Console() {
  const state = useStore(session.state);
  const [isSetUpPage, setSetUpPage] = useState(window.location.pathname === `${rootPath}/console/setup`);
  const client = useQueryClient();
  useRefresh();
  useOtherTabs();
  useEffect(() => {
    if (state.status === 'unknown' || state.status === 'in') return;
    // Nothing of what was shown stays in the page. The sign-in in the middle of the work names the operator.
    document.title = 'Postern';
    if (state.status !== 'out')
      return client.removeQueries({ predicate: ({ queryHash }) => queryHash !== operatorHash });
    forgetDrafts();
    client.clear();
  }, [state, client]);
  if (isSetUpPage) {
    const leaveSetUp = () => {
      window.history.replaceState(null, '', `${rootPath}/console`);
      setSetUpPage(false);
    };
    return (
      <Suspense>
        <SetUpPage onDone={leaveSetUp} />
      </Suspense>
    );
  }
  if (state.status === 'unknown') return <Resume />;
  if (state.status === 'out') {
    return (
      <Suspense>
        <SignInPage />
      </Suspense>
    );
  }
  if (state.status === 'away') return <Away />;
  if (state.status === 'ended') return <EndedGate reason={state.reason} />;
  return (
    <>
      <RouterProvider router={router} />
      <ConfirmationGate />
    </>
  );
}

/** Shown while nobody uses the page and its session has ended. Any input opens the page again. */
function Away() {
  const { shell } = useText();
  return (
    <Entrance>
      <p role="status">{shell.away}</p>
    </Entrance>
  );
}

/** Opens a session with the cookie, while the page is empty. */
function Resume() {
  const text = useText();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks again
  useEffect(() => {
    setError(undefined);
    session.resume().catch(setError);
  }, [attempt]);
  if (error === undefined) return null;
  return (
    <Entrance>
      <Problem message={text.shell.startFailed} error={error} onRetry={() => setAttempt((count) => count + 1)} />
    </Entrance>
  );
}

/** Reads everything on the page again as soon as the service answers again, or the operator has signed in again. */
function useRefresh(): void {
  const client = useQueryClient();
  useEffect(() => {
    let wasReachable = connection.get().reachable;
    const onConnection = () => {
      const { reachable } = connection.get();
      if (reachable && !wasReachable) void client.invalidateQueries();
      wasReachable = reachable;
    };
    let before = session.state.get().status;
    const onSession = () => {
      const { status } = session.state.get();
      if (status === 'in' && (before === 'ended' || before === 'away')) void client.invalidateQueries();
      before = status;
    };
    const unsubscribes = [connection.subscribe(onConnection), session.state.subscribe(onSession)];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }, [client]);
}

function useOtherTabs(): void {
  useEffect(() => {
    // Requests that waited for a sign-in are rejected at the sign-out. Nothing waits for them any more.
    const onRejection = (event: PromiseRejectionEvent) => {
      if (event.reason instanceof SignedOutError) event.preventDefault();
    };
    const stop = followSignOut();
    window.addEventListener('unhandledrejection', onRejection);
    return () => {
      stop();
      window.removeEventListener('unhandledrejection', onRejection);
    };
  }, []);
}
