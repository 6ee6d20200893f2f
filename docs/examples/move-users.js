// node move-users.js firebase|supabase|auth0|keycloak <export> > users.ndjson
import { readFileSync } from 'node:fs';

const [source, file] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const lines = () =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const { SIGNER_KEY, SALT_SEPARATOR, ROUNDS, MEM_COST } = process.env;

const moves = {
  // firebase auth:export users.json --format=json
  firebase: () =>
    JSON.parse(text).users.map((user) => ({
      external_id: user.localId,
      email: user.email,
      email_verified: user.email && user.emailVerified === true,
      phone: user.phoneNumber,
      name: user.displayName,
      created_at: new Date(Number(user.createdAt)).toISOString(),
      password_hash:
        user.passwordHash &&
        `$fbscrypt$v=1,n=${MEM_COST},r=${ROUNDS},p=1,ss=${SALT_SEPARATOR},sk=${SIGNER_KEY}$${user.salt}$${user.passwordHash}`,
    })),
  // select json_agg(u) from auth.users u
  supabase: () =>
    JSON.parse(text).map((user) => ({
      id: user.id,
      email: user.email,
      email_verified: user.email && user.email_confirmed_at !== null,
      phone: user.phone && `+${user.phone}`,
      phone_verified: user.phone && user.phone_confirmed_at !== null,
      name: user.raw_user_meta_data?.full_name,
      created_at: new Date(user.created_at).toISOString(),
      password_hash: user.encrypted_password,
    })),
  // The file with hashes that Auth0 sends after a request to its support.
  auth0: () =>
    lines().map((user) => ({
      external_id: user._id.$oid,
      email: user.email,
      email_verified: user.email && user.email_verified === true,
      name: user.name,
      password_hash: user.passwordHash,
    })),
  // kc.sh export --realm shop --users realm_file --file shop.json
  keycloak: () =>
    JSON.parse(text).users.map((user) => ({
      id: user.id,
      username: user.username,
      email: user.email,
      email_verified: user.email && user.emailVerified === true,
      name: [user.firstName, user.lastName].filter(Boolean).join(' '),
      created_at: new Date(user.createdTimestamp).toISOString(),
      password_hash: password(user.credentials?.find(({ type }) => type === 'password')),
    })),
};

const password = (credential) => credential && JSON.stringify(credential);
/** What a user does not have, the line does not have. */
const present = (user) =>
  Object.fromEntries(Object.entries(user).filter(([, value]) => value !== null && value !== undefined && value !== ''));

for (const user of moves[source]()) process.stdout.write(`${JSON.stringify(present(user))}\n`);
