import type { PosternError } from '../errors.js';
import type { Store } from '../store.js';
import type { CellChoice, ChannelChoice, PreferenceCells, PreferenceChannels, Preferences } from '../wire.js';

/** The messages that a user gets besides the inbox. */
export type PreferenceChannel = keyof PreferenceChannels;
/** Null removes a choice. Then the default applies. */
export type PreferenceChoices<Name extends string = PreferenceChannel, Choice = ChannelChoice> = {
  readonly [Channel in Name]?: Choice | null | undefined;
};

/** What to change. Everything that is not named stays. */
export interface PreferenceChanges {
  /** A name of the IANA database, such as `Europe/Madrid`. If none is set, the client sends the time zone of the browser. */
  readonly time_zone?: string | null | undefined;
  /** When pushes, mails and SMS are held, on the wall clock of `time_zone`. */
  readonly quiet_hours?: Preferences['quiet_hours'] | undefined;
  /** A channel that is off is off for all categories, except critical ones. */
  readonly channels?: PreferenceChoices | undefined;
  /** A category that is off in `inbox` counts as read and archived, and no tab shows it. */
  readonly categories?: Readonly<Record<string, PreferenceChoices<keyof PreferenceCells, CellChoice>>> | undefined;
  /** For open topics and those of the user. A choice for a topic overrides the category, except a critical one. */
  readonly topics?: Readonly<Record<string, PreferenceChoices<keyof PreferenceCells, CellChoice>>> | undefined;
}

/** What a page for preferences shows. */
export interface PreferencesSnapshot {
  /** With the changes that are being sent. Null until they were read, and if nobody is signed in. */
  readonly preferences: Preferences | null;
  readonly loading: boolean;
  /** Why the last read failed. Earlier preferences stay. */
  readonly error: PosternError | null;
  /** Why the last change failed. It is undone. */
  readonly changeError: PosternError | null;
}

/**
 * What the user wants to be notified about, and where. It is read while somebody subscribes to it, and again after a change in another
 * tab and when the page comes to the foreground. None of these functions rejects.
 */
export interface PreferencesStore extends Store<PreferencesSnapshot> {
  /** Shows the change at once, and undoes it if Postern refuses it. Returns whether it was made; see `changeError`. */
  readonly change: (changes: PreferenceChanges) => Promise<boolean>;
  /** Reads again, such as after `error`. */
  readonly reload: () => Promise<void>;
}
