import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { entryQuery } from '../../app/operator.js';
import { Segments } from '../../components/field/field.js';
import { Icon, Mark } from '../../components/icon/icon.js';
import { cx } from '../../lib/cx.js';
import { theme as consoleTheme, language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import { useFormats, useText } from '../../text/text.js';
import styles from './preview.module.css';

const devices = ['iphone', 'android', 'inbox'] as const;
const themes = ['light', 'dark'] as const;

/** The members of a notification that the preview shows. */
export interface Previewed {
  readonly actor: string;
  readonly description: string;
  readonly number: string;
  readonly text: string;
  /** The URL of the image, if there is one. */
  readonly image: string | undefined;
}

/** The notification as a phone shows it: a push on two systems, and the row of an inbox. */
export function Preview({ content }: { content: Previewed }) {
  const { preview } = useText().notifications;
  const defaultTheme = useStore(consoleTheme);
  const isDark =
    defaultTheme === 'system' ? window.matchMedia('(prefers-color-scheme: dark)').matches : defaultTheme === 'dark';
  const [device, setDevice] = useState<(typeof devices)[number]>('iphone');
  const [theme, setTheme] = useState<(typeof themes)[number]>(isDark ? 'dark' : 'light');
  return (
    <section className={styles.preview} aria-label={preview.title}>
      <div className={styles.choices}>
        <Segments
          label={preview.device}
          value={device}
          options={devices.map((name) => [name, preview.devices[name]])}
          onChoose={setDevice}
        />
        <Segments
          label={preview.theme}
          value={theme}
          options={themes.map((name) => [name, preview.themes[name]])}
          onChoose={setTheme}
        />
      </div>
      <div className={cx(styles.phone, styles[theme], styles[device])}>
        {device === 'inbox' ? (
          <Inbox content={content} />
        ) : (
          <LockScreen content={content} isApple={device === 'iphone'} />
        )}
      </div>
      <p className={styles.note}>
        {preview.note} {content.image !== undefined && device !== 'inbox' && preview.noImage}
      </p>
    </section>
  );
}

/** The direction of a text is that of its first letter. */
function directionOf(text: string): 'rtl' | 'ltr' {
  const first = /\p{L}/u.exec(text)?.[0] ?? '';
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first)
    ? 'rtl'
    : 'ltr';
}

function LockScreen({ content: { actor, description }, isApple }: { content: Previewed; isApple: boolean }) {
  const { preview } = useText().notifications;
  const { axisTime } = useFormats();
  const { data: entry } = useQuery(entryQuery);
  const now = new Date();
  const day = new Intl.DateTimeFormat(useStore(language), { weekday: 'long', day: 'numeric', month: 'long' }).format(
    now,
  );
  const app = entry?.app_name ?? '';
  // Without a title, a phone shows the name of the app.
  const title = actor.trim() === '' ? app : actor;
  return (
    <div className={styles.screen}>
      <div className={styles.clock}>
        <span>{day}</span>
        <span className={styles.time}>{axisTime(now, false)}</span>
      </div>
      <div className={styles.card} dir={directionOf(description || title)}>
        <span className={styles.app}>
          <Mark />
        </span>
        <div className={styles.content}>
          {!isApple && (
            <div className={styles.appName}>
              <bdi>{app}</bdi> · {preview.now}
            </div>
          )}
          <div className={styles.title}>
            <bdi>{title}</bdi>
            {isApple && <span className={styles.now}>{preview.now}</span>}
          </div>
          <div className={cx(styles.body, isApple ? styles.four : styles.two)}>
            {description === '' ? <em>{preview.empty}</em> : <bdi>{description}</bdi>}
          </div>
        </div>
      </div>
    </div>
  );
}

function Inbox({ content: { actor, description, number, text, image } }: { content: Previewed }) {
  const { preview } = useText().notifications;
  return (
    <div className={styles.list}>
      <article className={styles.entry} dir={directionOf(description || actor)}>
        {image !== undefined && <PreviewImage url={image} />}
        <div className={styles.title}>
          <bdi>{actor}</bdi>
          <span className={styles.now}>{preview.now}</span>
        </div>
        <div className={styles.whole}>{description === '' ? <em>{preview.empty}</em> : <bdi>{description}</bdi>}</div>
        {(number !== '' || text !== '') && (
          <div className={styles.object}>
            {text !== '' && <bdi>{text}</bdi>}
            {number !== '' && <strong>{number}</strong>}
          </div>
        )}
      </article>
      <div className={styles.other} />
      <div className={styles.other} />
    </div>
  );
}

/**
 * An uploaded image. Of an external image only the host is shown, because the content security policy allows images of
 * Postern only.
 */
export function PreviewImage({ url }: { url: string }) {
  const { preview } = useText().notifications;
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address?.origin === window.location.origin) {
    return <img className={styles.picture} src={address.pathname} alt={preview.imageHere} />;
  }
  return (
    <div className={styles.noPicture}>
      <Icon name="link" />
      <span>{address === null ? preview.uploaded : preview.external(address.host)}</span>
    </div>
  );
}
