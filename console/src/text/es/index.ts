import type { Texts } from '../en/index.js';
import { common } from './common.js';
import { events } from './events.js';
import { keys } from './keys.js';
import { overview } from './overview.js';
import { parts } from './parts.js';
import { setUp } from './set-up.js';
import { shell } from './shell.js';
import { signIn } from './sign-in.js';

export const texts: Texts = { common, events, keys, overview, parts, setUp, shell, signIn };
