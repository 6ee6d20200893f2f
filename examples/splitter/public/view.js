// Splitter's look: texts, buttons and forms.
const main = document.querySelector('main');
const nav = document.querySelector('nav');
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

/** Replaces the page. */
export function show(title, ...lines) {
  main.replaceChildren(make('h1', { textContent: title }), ...lines.map((textContent) => make('p', { textContent })));
}

/** Runs an action, and shows its error. */
async function run(act) {
  try {
    await act();
  } catch (error) {
    main.append(make('p', { role: 'alert', textContent: error.message }));
  }
}

export function button(label, act, parent = main) {
  parent.append(make('button', { type: 'button', textContent: label, onclick: () => run(act) }));
}

/** Replaces the page by a form. `act` gets what was typed, by the names of the fields. */
export function form(title, names, note, act) {
  const element = make('form', {
    onsubmit(event) {
      event.preventDefault();
      run(() => act(Object.fromEntries(new FormData(element))));
    },
  });
  const types = { password: 'password', 'current password': 'password', photo: 'file' };
  const fields = names.map((name) => {
    const label = make('label', { textContent: `${name} ` });
    label.append(make('input', { name, type: types[name] ?? 'text' }));
    return label;
  });
  element.append(...fields, make('button', { textContent: 'OK' }));
  show(title, note);
  main.append(element);
}

/** The bell above every page. */
export function inbox({ items, unread, hasMore }, actions) {
  const count = `${unread.unread_count}${unread.unread_count_capped ? '+' : ''} new`;
  const lines = items.map(({ description, isUnread, image }) => {
    const line = make('p', { textContent: `${isUnread ? '• ' : ''}${description}` });
    if (image) line.append(make('img', { src: image.thumbnail_url, alt: '', width: 80 }));
    return line;
  });
  nav.replaceChildren(...lines);
  button(count, actions.markAllRead, nav);
  if (hasMore) button('More', actions.loadMore, nav);
}
