import { element } from '../base/dom.js';
import { fill } from '../base/texts.js';
import type { StartTexts } from './texts.js';
import type { Context } from './views.js';

/** The name that people know a provider by. */
const titles: Readonly<Record<string, string>> = {
  apple: 'Apple',
  'azure-ad': 'Microsoft',
  azure: 'Microsoft',
  entra: 'Microsoft',
  facebook: 'Facebook',
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
  keycloak: 'Keycloak',
  linkedin: 'LinkedIn',
  microsoft: 'Microsoft',
  okta: 'Okta',
};

/** The title of a provider, made from its name in the configuration of the service. */
const providerTitle = (name: string) => titles[name] ?? name.replace(/^./, (letter) => letter.toUpperCase());

/** The title of a provider for people. @param authenticator such as `oidc:google` */
export function titleOf({ offered }: Pick<Context, 'offered'>, authenticator: string): string {
  const option = offered.logins.find((option) => option.authenticator === authenticator);
  return option?.title ?? providerTitle(authenticator.replace(/^\w+:/, ''));
}

type Mark = readonly [size: number, ...paths: (readonly [fill: string, path: string])[]];

/** The marks of providers, as their brand guides show them. A mark with `currentColor` follows the text. */
const marks: Readonly<Record<string, Mark>> = {
  Google: [
    48,
    [
      '#4285f4',
      'M45.12 24.5c0-1.56-.14-3.06-.4-4.5H24v8.51h11.84c-.51 2.75-2.06 5.08-4.39 6.64v5.52h7.11c4.16-3.83 6.56-9.47 6.56-16.17z',
    ],
    [
      '#34a853',
      'M24 46c5.94 0 10.92-1.97 14.56-5.33l-7.11-5.52c-1.97 1.32-4.49 2.1-7.45 2.1-5.73 0-10.58-3.87-12.31-9.07H4.34v5.7C7.96 41.07 15.4 46 24 46z',
    ],
    [
      '#fbbc05',
      'M11.69 28.18C11.25 26.86 11 25.45 11 24s.25-2.86.69-4.18v-5.7H4.34C2.85 17.09 2 20.45 2 24c0 3.55.85 6.91 2.34 9.88l7.35-5.7z',
    ],
    [
      '#ea4335',
      'M24 10.75c3.23 0 6.13 1.11 8.41 3.29l6.31-6.31C34.91 4.18 29.93 2 24 2 15.4 2 7.96 6.93 4.34 14.12l7.35 5.7c1.73-5.2 6.58-9.07 12.31-9.07z',
    ],
  ],
  Apple: [
    24,
    [
      'currentColor',
      'M12.152 6.896c-.948 0-2.415-1.078-3.96-1.04-2.04.027-3.91 1.183-4.961 3.014-2.117 3.675-.546 9.103 1.519 12.09 1.013 1.454 2.208 3.09 3.792 3.039 1.52-.065 2.09-.987 3.935-.987 1.831 0 2.35.987 3.96.948 1.637-.026 2.676-1.48 3.676-2.948 1.156-1.688 1.636-3.325 1.662-3.415-.039-.013-3.182-1.221-3.22-4.857-.026-3.04 2.48-4.494 2.597-4.559-1.429-2.09-3.623-2.324-4.39-2.376-2-.156-3.675 1.09-4.61 1.09zM15.53 3.83c.843-1.012 1.4-2.427 1.245-3.83-1.207.052-2.662.805-3.532 1.818-.78.896-1.454 2.338-1.273 3.714 1.338.104 2.715-.688 3.559-1.701',
    ],
  ],
  GitHub: [
    24,
    [
      'currentColor',
      'M12 .297c-6.63 0-12 5.373-12 12 0 5.303 3.438 9.8 8.205 11.385.6.113.82-.258.82-.577 0-.285-.01-1.04-.015-2.04-3.338.724-4.042-1.61-4.042-1.61C4.422 18.07 3.633 17.7 3.633 17.7c-1.087-.744.084-.729.084-.729 1.205.084 1.838 1.236 1.838 1.236 1.07 1.835 2.809 1.305 3.495.998.108-.776.417-1.305.76-1.605-2.665-.3-5.466-1.332-5.466-5.93 0-1.31.465-2.38 1.235-3.22-.135-.303-.54-1.523.105-3.176 0 0 1.005-.322 3.3 1.23.96-.267 1.98-.399 3-.405 1.02.006 2.04.138 3 .405 2.28-1.552 3.285-1.23 3.285-1.23.645 1.653.24 2.873.12 3.176.765.84 1.23 1.91 1.23 3.22 0 4.61-2.805 5.625-5.475 5.92.42.36.81 1.096.81 2.22 0 1.606-.015 2.896-.015 3.286 0 .315.21.69.825.57C20.565 22.092 24 17.592 24 12.297c0-6.627-5.373-12-12-12',
    ],
  ],
  Microsoft: [
    20,
    ['#f25022', 'M1 1h8.5v8.5H1z'],
    ['#7fba00', 'M10.5 1H19v8.5h-8.5z'],
    ['#00a4ef', 'M1 10.5h8.5V19H1z'],
    ['#ffb900', 'M10.5 10.5H19V19h-8.5z'],
  ],
};

const svg = 'http://www.w3.org/2000/svg';

/** The mark of a provider, or the first letter of its title. */
function markOf(title: string, name: string): Element {
  const mark = marks[title] ?? marks[providerTitle(name)];
  if (mark === undefined)
    return element('span', { class: 'mark letter', part: 'mark', 'aria-hidden': 'true' }, title.slice(0, 1));
  const [size, ...paths] = mark;
  const image = document.createElementNS(svg, 'svg');
  for (const [name, value] of [
    ['viewBox', `0 0 ${size} ${size}`],
    ['class', 'mark'],
    ['part', 'mark'],
    ['aria-hidden', 'true'],
  ] as const) {
    image.setAttribute(name, value);
  }
  for (const [fill, d] of paths) {
    const path = document.createElementNS(svg, 'path');
    path.setAttribute('d', d);
    path.setAttribute('fill', fill);
    image.append(path);
  }
  return image;
}

/** The button of a provider. Of many, each shows only the title; screen readers hear the whole sentence. */
export function providerButton(
  context: Pick<Context, 'offered'> & { readonly words: StartTexts },
  authenticator: string,
  isShort: boolean,
  onClick: (pressed: HTMLElement) => void,
): HTMLElement {
  const title = titleOf(context, authenticator);
  const text = fill(context.words.use_provider, { provider: title });
  const attributes = { type: 'button', class: 'button', part: 'button button-provider', 'aria-label': isShort && text };
  const click = ({ currentTarget }: Event) => onClick(currentTarget as HTMLElement);
  return element(
    'button',
    { ...attributes, click },
    markOf(title, authenticator.replace(/^\w+:/, '')),
    isShort ? title : text,
  );
}
