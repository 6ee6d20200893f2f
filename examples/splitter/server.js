// Splitter's backend. It keeps the bills. Postern keeps the users, their logins and their inboxes.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBrowserSession, createPosternServer, expressHandler, expressSession, sessionOf } from '@postern/server';
import express from 'express';

const folderOf = (url) => dirname(fileURLToPath(url));

const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });

/** A bill as one of its people sees it. `open` is what is not paid yet: to this user, or by this user. */
function billFor({ id, title, total, by, owes, paid }, userId) {
  const isMine = by.id === userId;
  const people = Object.keys(owes);
  const unpaid = people.filter((user) => !paid.includes(user) && (isMine || user === userId));
  const open = unpaid.reduce((sum, user) => sum + owes[user], 0);
  return { id, title, total, by: by.name, isMine, share: owes[userId], open, people, paid: paid.length };
}

/** Calls the admin API of Postern, beside what the package does. */
async function admin({ url, apiKey }, method, path, body) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/admin/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

// A share that a friend has not read after `mailAfter` is mailed. The news of the club come as one mail a day, with what is not read.
// People join and mute the club in their preferences, and choose the mail.
async function defineNotifications({ mailAfter, ...service }) {
  const steps = [{ channel: 'push' }, { channel: 'email', after: mailAfter, if: 'unread' }];
  const title = { en: 'Shares that you owe', es: 'Lo que debes' };
  await admin(service, 'PUT', 'categories/request', { title, steps });
  const club = { title: { en: 'Dinners of the club', es: 'Cenas del club' }, digest: { every: 'daily 09:00' } };
  const clubSteps = [{ channel: 'push' }, { channel: 'email' }];
  await admin(service, 'PUT', 'categories/pool', { ...club, steps: clubSteps, defaults: { email: 'digest' } });
  await admin(service, 'PUT', 'topics/club.dinner', { title: 'Dinner club', is_open: true });
}

/** @returns the address of Splitter */
export async function startSplitter({ url, apiKey, port, mailAfter }) {
  await defineNotifications({ url, apiKey, mailAfter });
  const bills = new Map();
  const postern = createPosternServer({ url, apiKey });
  const app = express();
  app.use(expressHandler(createBrowserSession(postern, { basePath: '/auth' })));
  app.use(express.static(`${folderOf(import.meta.url)}/public`));
  for (const name of ['client', 'elements'])
    app.use(`/packages/${name}`, express.static(folderOf(import.meta.resolve(`@postern/${name}`))));
  app.use('/api', express.json(), expressSession(postern));

  app.get('/api/bills', (request, response) => {
    const { user_id } = sessionOf(request);
    const own = [...bills.values()].filter(({ by, owes }) => by.id === user_id || user_id in owes);
    response.json(own.reverse().map((bill) => billFor(bill, user_id)));
  });

  app.post('/api/bills', async (request, response) => {
    const by = await postern.users.get(sessionOf(request).user_id);
    const { title, total, friends, image_id, club } = request.body;
    const users = await Promise.all(friends.map(userNamed));
    if (users.includes(undefined)) return response.status(400).json({ message: 'Nobody has one of these names.' });
    if (users.some(({ id }) => id === by.id))
      return response.status(400).json({ message: 'You are there anyway: name the others.' });
    const share = Math.round((100 * total) / (users.length + 1)) / 100;
    const owes = Object.fromEntries(users.map(({ id }) => [id, share]));
    const payer = { id: by.id, name: by.name || by.username };
    const bill = { id: crypto.randomUUID(), title, total, by: payer, owes, paid: [] };
    bills.set(bill.id, bill);
    const what = {
      notification_type: 'request',
      actor_id: by.id,
      object_id: bill.id,
      object_data_number: share,
      image_id,
      actions: [{ key: 'pay', label: `Pay ${money.format(share)}` }],
    };
    const description = `Your share of ${title} is ${money.format(share)}.`;
    await postern.publish({ user_ids: Object.keys(owes), ...what, description }, { idempotencyKey: `bill-${bill.id}` });
    if (club) {
      const notification = { notification_type: 'pool', actor: payer.name, description: `was at ${title}.` };
      await admin({ url, apiKey }, 'POST', 'publications', { to: { topic: 'club.dinner' }, notification });
    }
    response.status(201).json(billFor(bill, by.id));
  });

  app.post('/api/bills/:id/pay', async (request, response) => {
    const { user_id } = sessionOf(request);
    const bill = bills.get(request.params.id);
    const share = bill?.owes[user_id];
    if (share === undefined) return response.status(404).json({ message: 'There is no such bill.' });
    if (!bill.paid.includes(user_id)) bill.paid.push(user_id);
    const what = { notification_type: 'payment', actor_id: user_id, object_id: bill.id, object_data_number: share };
    const description = `Paid you ${money.format(share)} for ${bill.title}.`;
    await postern.publish(
      { user_id: bill.by.id, ...what, description },
      { idempotencyKey: `pay-${bill.id}-${user_id}` },
    );
    response.json(billFor(bill, user_id));
  });

  async function userNamed(name) {
    const exact = name.replace(/[\\,|:;[\]]/g, '\\$&');
    const { data } = await postern.users.list({ filter: `name:eq:${exact}`, limit: 2 }).page();
    return data.length === 1 ? data[0] : undefined;
  }
  const server = app.listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://localhost:${server.address().port}`;
}
