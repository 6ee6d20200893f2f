import styles from './icon.module.css';

/** Paths on a grid of 16, drawn with a line of 1.4. */
const paths = {
  home: 'M2.5 7.2 8 2.5l5.5 4.7v6.3h-3.8V9.4H6.3v4.1H2.5z',
  users:
    'M6 7.6a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8ZM1.6 13.2c.2-2.4 2-3.9 4.4-3.9s4.2 1.5 4.4 3.9M10.8 3a2.4 2.4 0 0 1 0 4.4M12 9.6c1.5.5 2.3 1.8 2.4 3.6',
  user: 'M8 7.8a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM2.9 13.6c.3-2.6 2.3-4.1 5.1-4.1s4.8 1.5 5.1 4.1',
  bell: 'M4 7a4 4 0 0 1 8 0c0 3 .8 4 1.4 4.6H2.6C3.200 11 4 10 4 7ZM6.600 13.700h2.800',
  mail: 'M2 3.5h12v9H2zM2.200 4l5.800 4.700L13.800 4',
  webhook:
    'M5.200 10.600 7.300 7A2.600 2.600 0 1 1 10.400 4.400M7.900 5l2.300 4a2.600 2.600 0 1 1-.9 4M10 11.300H5.800A2.600 2.600 0 1 1 3 8.800',
  list: 'M2.200 4h.6M2.200 8h.6M2.200 12h.6M5.300 4h8.500M5.300 8h8.500M5.300 12h8.500',
  key: 'M5 10.700a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400ZM7.700 8h6.300v2.400M11.400 8v2',
  sliders: 'M2 5h5M10 5h4M2 11h2M7 11h7M8.500 3.300v3.400M5.500 9.300v3.400',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM10.700 10.700 14 14',
  check: 'M3.300 8.400 6.500 11.600 12.700 4.800',
  cross: 'M4 4l8 8M12 4l-8 8',
  circleCheck: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.400 8.200l1.900 1.900 3.400-3.900',
  circleCross: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6 6l4 4M10 6l-4 4',
  circleMinus: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.500 8h5',
  warning: 'M8 2.400 14.400 13.400H1.600zM8 6.400v3.200M8 11.400v.2',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.400v3.600M8 5v.2',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.800V8l2.200 1.600',
  lock: 'M3.500 7.200h9v6.300h-9zM5.400 7V5a2.600 2.600 0 0 1 5.200 0v2M8 9.700v1.600',
  unlock: 'M3.500 7.200h9v6.300h-9zM5.400 7V5A2.600 2.600 0 0 1 10.500 4.300M8 9.700v1.600',
  ban: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.800 3.800l8.400 8.400',
  plus: 'M8 3v10M3 8h10',
  chevronDown: 'M4.300 6.200 8 9.900l3.700-3.700',
  chevronRight: 'M6.200 4.300 9.900 8l-3.700 3.700',
  chevronLeft: 'M9.800 4.300 6.100 8l3.700 3.700',
  copy: 'M5.500 5.500h7v7h-7zM3.500 10.500v-7h7',
  refresh: 'M13 8a5 5 0 1 1-1.500-3.600L13 5.800M13 2.500v3.300H9.700',
  offline:
    'M2 2l12 12M4 8.700a6 6 0 0 1 3-1.600M2 6.300a9 9 0 0 1 2.600-1.700M7.500 4A9 9 0 0 1 14 6.300M10.600 7.800c.5.200 1 .5 1.400.9M6.200 11a2.700 2.700 0 0 1 3.300-.3M8 13.200v.1',
  upload: 'M8 10V2.500M5 5.200 8 2.200l3 3M2.500 9.500v4h11v-4',
  download: 'M8 2.500V10M5 7.300l3 3 3-3M2.500 9.500v4h11v-4',
  logout: 'M7 2.500h6.500v11H7M2 8h7.500M6.800 5.200 9.600 8l-2.800 2.800',
  trash: 'M3 4.500h10M6 4.300V2.500h4v1.800M4.200 4.500l.6 9h6.400l.6-9M6.700 7v4M9.300 7v4',
  pencil: 'M2.500 13.500l.7-3L10.800 2.900l2.300 2.300-7.600 7.600zM9.300 4.400l2.300 2.300',
  shield: 'M8 1.900 13 3.800v3.700c0 3.100-1.900 5.400-5 6.600-3.100-1.200-5-3.500-5-6.600V3.800z',
  passkey:
    'M3.600 11.200C3.300 8 4.200 4.500 8 4.500c3 0 4.400 2.300 4.400 5M5.800 13c-.8-3.400-.2-6 2.200-6s2.400 2.600 2.600 5.500M8 9.300c0 1.500.2 3 .6 4.300M3.500 4.200A6.300 6.300 0 0 1 12 3.700',
  phone: 'M4.500 1.800h7v12.400h-7zM7.200 12h1.600',
  laptop: 'M3.500 3.500h9v6.800h-9zM1.500 12.600h13',
  send: 'M14 2 2.200 6.600l4.700 2.500L9.400 13.800zM6.900 9.100 14 2',
  filter: 'M2 4h12M4 8h8M6.200 12h3.600',
  pause: 'M5.700 3.500v9M10.300 3.500v9',
  play: 'M5 3l7.500 5L5 13z',
  dots: 'M3.500 8h.1M8 8h.1M12.500 8h.1',
  menu: 'M2.500 4h11M2.500 8h11M2.500 12h11',
  sun: 'M8 10.700a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400ZM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M12.600 3.400l-.9.9M4.300 11.700l-.9.9',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 1.700 2.600 3.700 2.600 6S10 12.300 8 14C6 12.300 5.400 10.300 5.400 8S6 3.700 8 2Z',
  keyboard: 'M1.500 4h13v8h-13zM4 6.500h.1M6.700 6.500h.1M9.300 6.500h.1M12 6.500h.1M5 9.500h6',
  enter: 'M13 3.500v5H3.500M6 5.800 3.300 8.500 6 11.200',
  message: 'M2 3h12v8H7.500l-3 2.700V11H2z',
  link: 'M6.600 9.400 9.400 6.600M7 4.600l1.300-1.300a3 3 0 0 1 4.300 4.300L11.300 9M9 11.400l-1.300 1.300a3 3 0 0 1-4.300-4.300L4.700 7',
  tag: 'M2.500 2.500h5.200l5.800 5.800-5.200 5.200-5.800-5.800zM5.400 5.400h.1',
  hash: 'M6.200 2.500 4.800 13.500M11.200 2.500 9.800 13.500M2.800 5.800h11M2.200 10.200h11',
  mailOff: 'M2 3.500h12v9H2zM2.200 4l5.800 4.700L13.800 4M2 14.200 14 1.800',
  eye: 'M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
} as const;

export type IconName = keyof typeof paths;

/** Decoration beside a word. Something that is only an icon needs a label on its button. */
export function Icon({
  name,
  size = 16,
  className,
}: {
  name: IconName;
  size?: number;
  className?: string | undefined;
}) {
  return (
    <svg className={className ?? styles.icon} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** The mark of Postern: a small gate. */
export function Mark() {
  return (
    <svg className={styles.mark} width="20" height="22" viewBox="0 0 20 22" aria-hidden="true">
      <path fill="currentColor" d="M1 21V10a9 9 0 0 1 18 0v11h-4.500V10.200a4.500 4.500 0 0 0-9 0V21z" />
      <circle cx="10" cy="12" r="1.700" fill="currentColor" />
    </svg>
  );
}

/** Something runs for an unknown time. */
export function Spinner() {
  return (
    <svg className={styles.spinner} width="14" height="14" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6.300" fill="none" stroke="currentColor" strokeWidth="1.600" opacity="0.3" />
      <path
        d="M8 1.700A6.300 6.300 0 0 1 14.300 8"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.600"
        strokeLinecap="round"
      />
    </svg>
  );
}
