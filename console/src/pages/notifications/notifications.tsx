import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useHasScope } from '../../app/operator.js';
import { Button, ButtonLink } from '../../components/button/button.js';
import { Page } from '../../components/panel/panel.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Compose } from './compose.js';
import { Find } from './find.js';
import { publication } from './publish.js';

/** Writes and publishes notifications, and finds one that was published. */
export function Notifications() {
  const { notifications: text } = useText();
  const can = useHasScope();
  const { view, id } = useSearch({ from: '/notifications' });
  const [showsCurl, setShowsCurl] = useState(false);
  const isFind = view === 'find' || id !== undefined;
  const isComposing = useStore(publication) === undefined && !isFind;
  return (
    <Page
      title={text.title}
      actions={
        isFind ? (
          <ButtonLink icon="pencil" to="/notifications" search={{}}>
            {text.compose}
          </ButtonLink>
        ) : (
          <>
            {can('users:read') && (
              <ButtonLink icon="search" to="/notifications" search={{ view: 'find' }}>
                {text.find}
              </ButtonLink>
            )}
            {isComposing && <Button onClick={() => setShowsCurl(true)}>{text.curl.show}</Button>}
          </>
        )
      }
    >
      {isFind ? <Find /> : <Compose showsCurl={showsCurl} onCurlClose={() => setShowsCurl(false)} />}
    </Page>
  );
}
