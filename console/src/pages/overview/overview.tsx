import { useCan } from '../../app/operator.js';
import { Page } from '../../components/panel/panel.js';
import { useText } from '../../text/text.js';
import { Now } from './now.js';
import { Warnings } from './warnings.js';

/** What is wrong, and what is happening. */
export function Overview() {
  const { overview } = useText();
  const can = useCan();
  return (
    <Page title={overview.title}>
      <Warnings />
      {can('admin') && <Now />}
    </Page>
  );
}
