// The requests for passkeys, as a page sends them without the client package.
const base = 'https://auth.example.com';

async function post(path, body, session) {
  const authorization = session === undefined ? {} : { Authorization: `Bearer ${session}` };
  const headers = { 'Content-Type': 'application/json', ...authorization };
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.errors[0].code);
  return answer;
}

/** Creates a passkey for the user of the session. */
async function makePasskey(session, proof, name) {
  const { id, options } = await post('/v1/account/passkeys', { proof, name }, session);
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey });
  return post(`/v1/account/passkeys/${id}`, { response: credential.toJSON() }, session);
}

/** The secret for the request options of a login, a second factor or a proof. */
async function sign(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey });
  return JSON.stringify(credential.toJSON());
}

/** Logs in with a passkey that the user selects. */
async function logIn(device = {}) {
  const { id, challenge } = await post('/v1/tokens', { authenticator: 'passkey', device });
  return post(`/v1/tokens/${id}/secret`, { secret: await sign(challenge) });
}

/** Completes a login that asks for a passkey as the second factor. */
async function complete({ id, challenge }) {
  const options = challenge.type === 'passkey' ? challenge : challenge.passkey;
  return post(`/v1/tokens/${id}/secret`, { secret: await sign(options) });
}

/** Re-authenticates the user: the `proof` for another request. */
async function prove(session) {
  const { id, challenge } = await post('/v1/account/proofs', { type: 'passkey' }, session);
  return { type: 'passkey', id, secret: await sign(challenge) };
}

// For the tests, which call them in the page.
Object.assign(globalThis, { makePasskey, sign, logIn, complete, prove });
