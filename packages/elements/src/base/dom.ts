import { isFallback, withoutMarks } from './texts.js';

/** A child of an element. Text becomes a text node and is never parsed as HTML. */
export type Child = Node | string | null | undefined | false;

/**
 * Attributes by name. A value of null, undefined or false omits the attribute. A function becomes a listener of the
 * event with this name.
 */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>
>;

/** Creates an HTML element. It sets attributes only: properties, such as `value`, are set by the caller. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fillElement(document.createElement(tag), attributes, children);
}

function fillElement<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : withoutMarks(`${value}`));
    }
  }
  replaceContent(element, ...children);
  return element;
}

/** Replaces the children of an element. An English text in a page of another language is marked with its language and direction. */
export function replaceContent(parent: ParentNode, ...children: Child[]): void {
  const shown = children.filter(
    (child): child is Node | string => child !== null && child !== undefined && child !== false,
  );
  parent.replaceChildren(
    ...shown.map((child) =>
      typeof child === 'string' && isFallback(child)
        ? element('span', { lang: 'en', dir: 'ltr' }, withoutMarks(child))
        : child,
    ),
  );
}

/** A button that looks like a link. */
export const linkButton = (text: string, onClick: () => unknown, part = 'link') =>
  element('button', { type: 'button', class: 'link small', part, click: onClick }, text);

/** A code as the service takes it: without the spaces that users and messages put between digits, and with Western digits. */
export const digitsOf = (code: string) =>
  code.replace(/\s/g, '').replace(/[٠-٩۰-۹]/g, (digit) => `${digit.charCodeAt(0) & 15}`);

const svg = 'http://www.w3.org/2000/svg';

/** An icon of 20 by 20 units, drawn with lines. Screen readers ignore it. */
export function icon(path: string): SVGElement {
  const shape = fillElement(document.createElementNS(svg, 'path'), { d: path }, []);
  const attributes = { viewBox: '0 0 20 20', width: '1.25rem', height: '1.25rem', part: 'icon', 'aria-hidden': 'true' };
  return fillElement(document.createElementNS(svg, 'svg'), attributes, [shape]);
}
