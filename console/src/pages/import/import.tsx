import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button/button.js';
import { Icon } from '../../components/icon/icon.js';
import { Page } from '../../components/panel/panel.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Columns, FirstLines } from './columns.js';
import { ChooseFile, HowRead } from './file.js';
import styles from './import.module.css';
import { forgetImport, importing, isRunning } from './state.js';
import { DryRun, Work } from './steps.js';

/** Users from a file: how it is read, what its columns are, a dry run, and the import of what is valid. */
export function ImportUsers() {
  const { imports, users } = useText();
  const state = useStore(importing);
  const { source } = state;
  return (
    <Page
      title={imports.title}
      above={
        <>
          <Link to="/users">{users.title}</Link>
          <Icon name="chevronRight" size={12} />
        </>
      }
      actions={
        source !== undefined &&
        !isRunning(state) && (
          <Button icon="upload" onClick={forgetImport}>
            {imports.another}
          </Button>
        )
      }
    >
      <div className={styles.steps}>
        {source === undefined ? (
          <ChooseFile />
        ) : (
          <>
            <HowRead source={source} />
            {source.csv === undefined ? (
              <FirstLines of={source.sample} />
            ) : (
              <Columns source={source} csv={source.csv} />
            )}
            <DryRun source={source} />
            <Work />
          </>
        )}
      </div>
    </Page>
  );
}
