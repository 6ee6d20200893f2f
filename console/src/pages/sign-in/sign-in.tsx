import { useEffect } from 'react';
import { Entrance } from '../../app/entrance.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { SignInForm } from './form.js';
import styles from './sign-in.module.css';

/** The sign-in page. It appears at the URL of the page that the operator opened. */
export function SignInPage() {
  const { signIn } = useText();
  useEffect(() => {
    document.title = `${signIn.title} · Postern`;
  }, [signIn]);
  return (
    <Entrance note={signIn.only}>
      <div className={styles.column}>
        <section className={styles.card}>
          <SignInForm hasTitle />
        </section>
        <p className={layout.quiet}>
          {signIn.lostPhone} <code>postern operators invite</code> {signIn.onServer}
        </p>
      </div>
    </Entrance>
  );
}
