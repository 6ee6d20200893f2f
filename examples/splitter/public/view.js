// Splitter's look: bills, sums, and the dialog for a new bill.
const find = (selector) => document.querySelector(selector);
const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });

/** Makes a node. Texts are never parsed as HTML. */
function make(tag, properties = {}, ...children) {
  const { className = '', ...others } = properties;
  const node = Object.assign(document.createElement(tag), others);
  node.className = className;
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

export function showIssue(error, place = find('#bills .issue')) {
  place.textContent = error?.message ?? '';
}

/** Shows the bills and what they sum up to. `pay` gets the id of a bill. */
export function showBills(bills, pay) {
  showIssue();
  const sum = (wanted) => bills.filter(wanted).reduce((total, { open }) => total + open, 0);
  const owed = sum(({ isMine }) => isMine);
  const owing = sum(({ isMine }) => !isMine);
  find('.sums').replaceChildren(sumOf('You are owed', owed, 'good'), sumOf('You owe', owing, 'due'));
  find('.bills').replaceChildren(...bills.map((bill) => billRow(bill, pay)));
  find('#bills .empty').hidden = bills.length > 0;
  markBill();
}

/**
 * Marks the bill that the address names, and returns it. CSS has `:target` for this, but a row that is shown again
 * is a new node, and a browser looks for the target only when the address changes.
 */
export function markBill() {
  const rows = [...document.querySelectorAll('.bills li')];
  for (const row of rows) row.ariaCurrent = location.hash === `#${row.id}` ? 'true' : null;
  return rows.find((row) => row.ariaCurrent);
}

const sumOf = (label, amount, className) =>
  make('div', { className: amount > 0 ? className : '' }, make('dt', {}, label), make('dd', {}, money.format(amount)));

function billRow(bill, pay) {
  const { id, title, total, by, isMine, share, open, people, paid } = bill;
  const facts = isMine
    ? `You paid ${money.format(total)} · ${paid} of ${people.length} paid back`
    : `${by} paid ${money.format(total)} · your share is ${money.format(share)}`;
  const picture = make('span', { className: 'photo', ariaHidden: 'true' }, title.trim().slice(0, 1).toUpperCase());
  const progress = make('progress', { max: people.length, value: paid, ariaLabel: `${paid} of ${people.length} paid` });
  const text = make('div', { className: 'text' }, make('h2', {}, title), make('p', {}, facts), progress);
  return make('li', { id: `bill-${id}` }, picture, text, stateOf());

  function stateOf() {
    if (isMine)
      return make(
        'span',
        { className: open > 0 ? 'state' : 'state done' },
        open > 0 ? `${money.format(open)} open` : 'Settled',
      );
    if (open === 0) return make('span', { className: 'state done' }, 'Paid');
    const button = make(
      'button',
      { type: 'button', className: 'solid', ariaLabel: `Pay ${money.format(open)} for ${title}` },
      `Pay ${money.format(open)}`,
    );
    button.onclick = async () => {
      button.disabled = true;
      await pay(id).catch(showIssue);
      button.disabled = false;
    };
    return button;
  }
}

/** Opens the dialog for a new bill. It stays open until `add` has accepted what was typed. */
export function askForBill(add) {
  const dialog = find('#new-bill');
  const form = dialog.querySelector('form');
  const issue = form.querySelector('.issue');
  form.reset();
  showIssue(null, issue);
  form.querySelector('[value=cancel]').onclick = () => dialog.close();
  form.onsubmit = async (event) => {
    event.preventDefault();
    const { total, friends, ...others } = Object.fromEntries(new FormData(form));
    const typed = {
      ...others,
      total: Number(total.replace(',', '.')),
      friends: friends
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    };
    try {
      await add(typed);
      dialog.close();
    } catch (error) {
      showIssue(error, issue);
    }
  };
  dialog.showModal();
}
