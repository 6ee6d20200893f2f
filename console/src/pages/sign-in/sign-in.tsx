import { useEffect } from 'react';
import { Entrance } from '../../app/entrance.js';
import { useText } from '../../text/text.js';
import { SignInForm } from './form.js';
import styles from './sign-in.module.css';

/** Signing in through Postern's own login, on the address of the page that was asked for. */
export function SignInPage() {
  const { signIn } = useText();
  useEffect(() => {
    document.title = `${signIn.title} · Postern`;
  }, [signIn]);
  return (
    <Entrance foot={signIn.only}>
      <div className={styles.column}>
        <section className={styles.card}>
          <SignInForm titled />
        </section>
        <p className={styles.lost}>
          {signIn.lostPhone} <code>postern operators invite</code> {signIn.onServer}
        </p>
      </div>
    </Entrance>
  );
}
