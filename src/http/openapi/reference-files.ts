/** The style of the page of the API. The colours are those of the pages of Postern. */
export const referenceStyle = `:root { color-scheme: light dark; --ink: light-dark(#1b1a17, #eeede8); --muted: light-dark(#5c5a53, #aaa79b);
  --line: light-dark(#dedbd3, #35342f); --ground: light-dark(#f5f4f0, #10100f); --card: light-dark(#fff, #181816);
  --link: light-dark(#0b57a4, #8fc0f5); }
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 0.9375rem/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
header, main { max-width: 60rem; margin-inline: auto; padding: 16px; }
h1 { margin: 8px 0; font-size: 1.5rem; }
h2, h3 { display: inline; margin: 0; font-size: 1rem; }
h4 { margin: 16px 0 4px; font-size: 0.9375rem; }
p { margin: 8px 0; overflow-wrap: anywhere; }
small, summary span { color: var(--muted); font-weight: 400; font-size: 0.875rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875em; }
code { overflow-wrap: anywhere; }
pre { margin: 8px 0; padding: 12px; overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); }
pre code { overflow-wrap: normal; }
form label { display: block; font-weight: 550; }
form input { width: min(100%, 30rem); min-height: 2.75rem; padding: 8px 12px; border: 1px solid light-dark(#88857b, #7b786f); border-radius: 6px;
  background: var(--card); color: inherit; font: inherit; }
form output { display: inline-block; padding: 8px; color: var(--muted); }
details.group { margin-block: 12px; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
details.group > summary { padding: 12px 16px; }
details details { border-top: 1px solid var(--line); }
details details > summary { padding: 8px 16px; }
details details > div { padding: 0 16px 16px; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary:hover { background: light-dark(#f4f3ef, #21201d); }
summary b { display: inline-block; min-width: 4.2em; font-size: 0.8125rem; }
.get { color: light-dark(#0b57a4, #8fc0f5); } .post { color: light-dark(#11693a, #7fd6a2); } .delete { color: light-dark(#b3261a, #ff9488); }
.put, .patch { color: light-dark(#7a4d00, #f0be6a); }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { min-width: 4rem; overflow-wrap: break-word; }
td:first-child { white-space: nowrap; }
td:nth-child(2) { min-width: 10rem; }
td:last-child { min-width: 14rem; }
td code { overflow-wrap: break-word; }
em { color: var(--muted); font-size: 0.8125rem; }
@media (max-width: 40rem) {
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: 6px 0; border-bottom: 1px solid var(--line); }
  td { padding: 0; border: 0; }
}
.inline { margin: 8px 0 8px 12px; padding-left: 12px; border-left: 3px solid var(--line); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[hidden] { display: none !important; }
`;

/* The browser's, as far as the script uses it: the service is compiled without its types. */
interface Element {
  hidden: boolean;
  open: boolean;
  id: string;
  value: string;
  textContent: string;
  readonly className: string;
  readonly dataset: Record<string, string | undefined>;
  readonly parentElement: Element | null;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  closest(selector: string): Element | null;
  matches(selector: string): boolean;
  cloneNode(deep: boolean): Element;
  append(child: Element): void;
  scrollIntoView(): void;
  addEventListener(
    name: string,
    listener: (event: { target: Element; preventDefault(): void }) => void,
    capture?: boolean,
  ): void;
}
declare const document: Element & { readonly documentElement: Element; getElementById(id: string): Element | null };
declare const location: { readonly hash: string };
declare const localStorage: { getItem(name: string): string | null };
declare function addEventListener(name: string, listener: () => void): void;

/** The script of the page. It runs in the browser: it is sent as text, so it must not refer to anything in this module. */
function script(): void {
  const form = document.querySelector('form');
  const input = document.querySelector('input');
  const output = document.querySelector('output');
  if (form === null || input === null || output === null) return;
  const operations = [...document.querySelectorAll('.operation')].map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
  }));

  // The site of the documentation keeps the choice of its reader here.
  try {
    const theme = localStorage.getItem('vitepress-theme-appearance');
    if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage, the theme of the system holds.
  }

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { element, text } of operations) {
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden) shown += 1;
    }
    for (const group of document.querySelectorAll('.group')) {
      const hasSome = group.querySelector('.operation:not([hidden])') !== null;
      group.hidden = words.length > 0 && !hasSome;
      group.open = words.length > 0 && hasSome;
    }
    output.textContent = `${words.length === 0 ? output.dataset.all : shown} operations`;
  };

  /** Opens the operation or the schema of the address. */
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    for (let part: Element | null = target; part !== null; part = part.parentElement) {
      part.hidden = false;
      if (part.matches('details')) part.open = true;
    }
    target.scrollIntoView();
  };

  /** Puts the members of a schema below the link to it, when the operation is opened for the first time. */
  const showSchemas = (operation: Element) => {
    for (const place of operation.querySelectorAll('[data-schema]')) {
      const name = place.querySelector('a')?.textContent;
      const schema =
        name === undefined || place.querySelector('.inline') ? null : document.getElementById(`schema-${name}`);
      const members = schema?.querySelector('div')?.cloneNode(true);
      if (members === undefined) continue;
      members.dataset.of = name;
      (members as { className: string }).className = 'inline';
      place.append(members);
    }
  };

  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  input.addEventListener('input', filter);
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target.open && target.matches('.operation')) showSchemas(target);
    },
    true,
  );
  addEventListener('hashchange', openTarget);
  openTarget();
}

export const referenceScript = `(${script.toString()})();\n`;
