// The script of the page that shows elements in tests. It is built for each run, with the sources of the packages.
import * as client from '@postern/client';
import { defineElements } from '@postern/elements';

const types = [
  'ready',
  'error',
  'select',
  'unread',
  'action',
  'signed-in',
  'step',
  'changed',
  'signed-out',
  'proven',
  'subscription',
];

/** Shows an element, after a login if there is one. The page then has `postern`, `element` and the `events` so far. */
window.show = async ({ url, tag, attributes = {}, properties = {}, login, texts, slots = '' }) => {
  const postern = client.createPostern({ url, storage: client.webStorage('session'), timeout: 60_000 });
  await postern.ready();
  if (login && postern.current.status !== 'signed_in') {
    const state = await client.createLogin(postern).start().password(login);
    if (state.step !== 'done') throw new Error(`not signed in: ${JSON.stringify(state)}`);
  }
  const events = [];
  for (const type of types) {
    document.addEventListener(`postern-${type}`, ({ detail }) =>
      events.push([type, JSON.parse(JSON.stringify(detail ?? null))]),
    );
  }
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (slots !== '') {
    const [slot, text] = slots.split('=');
    element.append(Object.assign(document.createElement('p'), { slot, textContent: text }));
  }
  // The properties are set before the definition, as in a page that defines its elements late.
  Object.assign(element, properties);
  document.querySelector('main').append(element);
  // A test that plays an OpenID provider exposes this function to the page.
  // Those of the built-in languages are there, and those of others are loaded when they are used.
  const tables = Object.entries(texts ?? {}).map(([tag, table]) => [
    tag,
    /^e[ns]/.test(tag) ? table : async () => table,
  ]);
  defineElements({ postern, texts: Object.fromEntries(tables), oidc: window.idTokenFor });
  // The second definition is that of a page that loads the package twice.
  defineElements({ postern });
  Object.assign(window, { client, postern, element, events });
};
