import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { session } from '../api/client.js';
import { connection } from '../api/connection.js';
import { SignedOutError } from '../api/problem.js';
import { Problem } from '../components/state/state.js';
import { forgetDrafts } from '../lib/drafts.js';
import { useStore } from '../lib/store.js';
import { TextProvider, useText } from '../text/text.js';
import { Entrance } from './entrance.js';
import { ConfirmationGate, EndedGate } from './gates.js';
import { router } from './routes.js';
import { followSignOut } from './sign-out.js';

const SignInPage = lazy(() =>
  import('../pages/sign-in/sign-in.js').then(({ SignInPage: Page }) => ({ default: Page })),
);
const SetUpPage = lazy(() => import('../pages/set-up/set-up.js').then(({ SetUpPage: Page }) => ({ default: Page })));

/** Problems are shown with a countdown, which repeats. So a query itself does not. */
const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 5000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <TextProvider>
        <Console />
      </TextProvider>
    </QueryClientProvider>
  );
}

/** The set-up, the sign-in page or the console, depending on the session. */
function Console() {
  const state = useStore(session.state);
  const [isSetUp, setSetUp] = useState(window.location.pathname === '/console/setup');
  const client = useQueryClient();
  useReadAgain();
  useTabs();
  useEffect(() => {
    if (state.is !== 'out') return;
    forgetDrafts();
    client.clear();
  }, [state, client]);
  if (isSetUp) {
    const leave = () => {
      window.history.replaceState(null, '', '/console');
      setSetUp(false);
    };
    return (
      <Suspense>
        <SetUpPage onDone={leave} />
      </Suspense>
    );
  }
  if (state.is === 'unknown') return <Resume />;
  if (state.is === 'out') {
    return (
      <Suspense>
        <SignInPage />
      </Suspense>
    );
  }
  return (
    <>
      <RouterProvider router={router} />
      <ConfirmationGate />
      {state.is === 'ended' && <EndedGate reason={state.reason} />}
    </>
  );
}

/** Asks the cookie for a session. There is nothing to show yet. */
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
      <Problem what={text.shell.startFailed} error={error} onRetry={() => setAttempt((count) => count + 1)} />
    </Entrance>
  );
}

/** Reads everything on the page again as soon as the service answers again, or the operator has signed in again. */
function useReadAgain(): void {
  const client = useQueryClient();
  useEffect(() => {
    let wasReachable = connection.get().reachable;
    const whenBack = () => {
      const { reachable } = connection.get();
      if (reachable && !wasReachable) void client.invalidateQueries();
      wasReachable = reachable;
    };
    let before = session.state.get().is;
    const whenSignedIn = () => {
      const { is } = session.state.get();
      if (is === 'in' && before === 'ended') void client.invalidateQueries();
      before = is;
    };
    const stops = [connection.subscribe(whenBack), session.state.subscribe(whenSignedIn)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [client]);
}

function useTabs(): void {
  useEffect(() => {
    // Nothing waits any more for requests that waited for a sign-in.
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
