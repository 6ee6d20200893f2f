import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ButtonLink } from '../components/button/button.js';
import { Page } from '../components/panel/panel.js';
import { Empty, Problem } from '../components/state/state.js';
import { useText } from '../text/text.js';
import { forgetFailures } from './lazy-page.js';
import { reloadOnce, UpgradedError } from './load-code.js';

export function NotFound() {
  const { shell } = useText();
  return (
    <Page title={shell.notFound}>
      <Empty title={shell.notFound} action={<ButtonLink to="/">{shell.toOverview}</ButtonLink>}>
        {shell.notFoundWhy}
      </Empty>
    </Page>
  );
}

/** A page failed while it was drawn, or its code could not be loaded. After an upgrade, the page is loaded again. */
export function Crashed({ error, reset }: ErrorComponentProps) {
  const { shell } = useText();
  useEffect(() => {
    if (error instanceof UpgradedError) reloadOnce();
    return forgetFailures;
  }, [error]);
  return (
    <Page title={shell.crashed}>
      <Problem
        error={error}
        onRetry={() => {
          forgetFailures();
          reset();
        }}
      />
    </Page>
  );
}
