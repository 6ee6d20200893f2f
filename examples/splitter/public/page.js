// Splitter's page. Everything that uses Postern in the browser is here: four elements and one client.
import { createInbox, createPostern } from '@postern/client';
import { defineElements } from '@postern/elements';
import { askForBill, markBill, showBills, showIssue } from './view.js';

const postern = createPostern({ url: '/auth', storage: 'backend' });
const types = { type_request: 'Shares that you owe', type_payment: 'Payments to you', type_pool: 'Dinner club' };
defineElements({ postern, texts: { en: { inbox: types } } });
const inbox = document.querySelector('postern-inbox');

async function api(path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await postern.fetch(`/api/${path}`, body && { method: 'POST', headers, body: JSON.stringify(body) });
  const read = await answer.json();
  if (!answer.ok) throw new Error(read.message);
  return read;
}

async function pay(id) {
  await api(`bills/${id}/pay`, {});
  await showAll();
}

async function showAll() {
  try {
    showBills(await api('bills'), pay);
  } catch (error) {
    showIssue(error);
  }
}

async function addBill({ title, total, friends, photo, club }) {
  const image = photo.size > 0 ? await createInbox(postern).uploadImage(photo) : undefined;
  await api('bills', { title, total, friends, image_id: image?.id, club });
  await showAll();
}

/** The page shows what belongs to the user who is signed in, or the form to sign in. */
function showStatus({ status }) {
  document.body.dataset.status = status;
  if (status === 'signed_in') showAll();
  else location.hash = '';
}

/** The part of the page that the address names: `#account`, or the bills with one of them. */
function showPart() {
  const isAccount = location.hash === '#account';
  document.getElementById('account').hidden = !isAccount;
  document.getElementById('bills').hidden = isAccount;
  markBill()?.scrollIntoView({ block: 'center' });
}

inbox.hrefOf = ({ object_id: id }) => (id ? `#bill-${id}` : null);
// The only action of a notification is to pay the share of its bill.
inbox.on('postern-action', ({ detail: { item } }) => pay(item.object_id).catch(showIssue));
// A friend has added a bill or has paid.
inbox.on('postern-unread', showAll);
document.getElementById('new').onclick = () => askForBill(addBill);
document.getElementById('sign-out').onclick = () => postern.logOut();
addEventListener('hashchange', showPart);
postern.subscribe(showStatus);
showPart();
