import { useState } from 'react';
import { Button } from '../../components/button/button.js';
import { Checkbox } from '../../components/field/field.js';
import { useCopy } from '../../components/text/id.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './set-up.module.css';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  /** What the button says. The default: the console opens. */
  readonly action?: string;
  /** The codes stand in a card already. */
  readonly isInCard?: boolean;
  readonly onDone: () => void;
}

/** The recovery codes, which are shown once. The next step begins when they are kept. */
export function RecoveryCodes({ codes, action, isInCard = false, onDone }: RecoveryCodesProps) {
  const { setUp, common } = useText();
  const [isKept, setKept] = useState(false);
  const [copied, copy] = useCopy();
  const all = codes.join('\n');
  return (
    <section className={isInCard ? styles.bare : styles.card}>
      <div className={styles.recovery}>
        <div>
          <h1>{setUp.recoveryTitle}</h1>
          <p className={styles.note}>{setUp.recoveryWhy}</p>
        </div>
        <ul className={styles.codes}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <div className={layout.buttons}>
          <Button icon={copied ? 'check' : 'copy'} onClick={() => copy(all)}>
            {copied ? common.copied : setUp.recoveryCopy}
          </Button>
          <Button icon="download" onClick={() => download('postern-recovery-codes.txt', `${all}\n`, 'text/plain')}>
            {setUp.recoveryDownload}
          </Button>
        </div>
        <Checkbox
          label={setUp.recoveryKept}
          checked={isKept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
        <Button kind="main" disabled={!isKept} onClick={onDone}>
          {action ?? setUp.toConsole}
        </Button>
      </div>
    </section>
  );
}
