/** What `h` and `icon` put into an element. Texts become text nodes and are never read as HTML. */
export type Child = Node | string | null | undefined | false;

/** Attributes by name. Null, undefined and false leave one out. Functions listen to the event of that name. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>
>;

/** Makes an HTML element. `value` and other states of a control are properties, which the caller sets. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : `${value}`);
    }
  }
  put(element, ...children);
  return element;
}

/** Replaces what is in an element. */
export function put(element: ParentNode, ...children: Child[]): void {
  element.replaceChildren(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
}

const svg = 'http://www.w3.org/2000/svg';

/** A picture of 20 by 20 units, drawn with lines. Screen readers skip it. */
export function icon(path: string): SVGElement {
  const drawing = filled(document.createElementNS(svg, 'path'), { d: path }, []);
  const attributes = { viewBox: '0 0 20 20', width: 20, height: 20, 'aria-hidden': 'true' };
  return filled(document.createElementNS(svg, 'svg'), attributes, [drawing]);
}
