import type { Texts } from '../en/index.js';
import { access } from './access.js';
import { audiences } from './audiences.js';
import { audit } from './audit.js';
import { backups } from './backups.js';
import { categories } from './categories.js';
import { check } from './check.js';
import { common } from './common.js';
import { events } from './events.js';
import { imports } from './imports.js';
import { keys } from './keys.js';
import { messages } from './messages.js';
import { delivery, notifications } from './notifications.js';
import { overview } from './overview.js';
import { parts } from './parts.js';
import { providers } from './providers.js';
import { publications } from './publications.js';
import { setUp } from './set-up.js';
import { shell } from './shell.js';
import { signIn } from './sign-in.js';
import { suppressions } from './suppressions.js';
import { system } from './system.js';
import { topics } from './topics.js';
import { user } from './user.js';
import { userDialogs } from './user-dialogs.js';
import { users } from './users.js';
import { webhooks } from './webhooks.js';

export const texts: Texts = {
  access,
  audiences,
  audit,
  backups,
  categories,
  check,
  common,
  delivery,
  events,
  imports,
  keys,
  messages,
  notifications,
  overview,
  parts,
  providers,
  publications,
  setUp,
  shell,
  signIn,
  suppressions,
  system,
  topics,
  user,
  userDialogs,
  users,
  webhooks,
};
