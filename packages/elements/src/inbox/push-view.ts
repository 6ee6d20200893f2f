import type { Inbox, InboxView } from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import type { RowTexts } from './texts.js';

/** Two sliders, for the settings. */
const settingsPath =
  'M3 6.5h8M15 6.5h2M3 13.5h2M9 13.5h8M13 4.7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM7 11.7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z';

/** An arrow to the left. The style mirrors it in text that runs from right to left. */
const backPath = 'M16 10H4M9 5l-5 5 5 5';

export interface PushViewOptions {
  readonly inbox: Inbox;
  readonly view: InboxView;
  readonly words: RowTexts;
  readonly signal: AbortSignal;
  report(error: unknown): void;
  adoptStyle(style: string): void;
}

/** The parts of the panel that the push settings change. */
export interface PanelParts {
  readonly panel: HTMLElement;
  readonly head: HTMLElement;
  readonly title: HTMLElement;
  /** What the title shows above the list. */
  readonly heading: Node;
  /** Hidden while the settings are shown. */
  readonly scroll: HTMLElement;
  isShown(): boolean;
  /** Shows the panel again. */
  show(): void;
}

/** The push settings in place of the list, and the button that opens them. */
export interface PushView {
  isOpen(): boolean;
  open(isOn: boolean): void;
  /** @param isSignedIn without a login there is nothing to set */
  show(isSignedIn: boolean): void;
}

/** Adds the buttons and the view to the panel. */
export function createPushView(options: PushViewOptions, parts: PanelParts): PushView {
  const { inbox, view, words, signal } = options;
  const pushSettings = element('div', { class: 'pushes', tabindex: -1, hidden: true });
  const iconButton = (label: string, path: string, opensSettings: boolean) =>
    element(
      'button',
      {
        class: opensSettings ? 'icon' : 'icon first',
        part: 'button',
        type: 'button',
        'aria-label': label,
        title: label,
        hidden: true,
        click: () => open(opensSettings),
      },
      icon(path),
    );
  const backButton = iconButton(words.back, backPath, false);
  const settingsButton = iconButton(words.push_settings, settingsPath, true);
  parts.head.prepend(backButton);
  parts.head.append(settingsButton);
  parts.panel.append(pushSettings);

  // The settings are loaded when a user opens them.
  const load = async () => {
    try {
      const settings = await import('./pushes.js');
      options.adoptStyle(settings.style);
      const { items } = view.current;
      settings.showPushSettings(pushSettings, { inbox, words, items, signal, report: options.report });
    } catch {
      replaceContent(pushSettings, element('p', { part: 'issue', role: 'alert' }, words.push_failed));
    }
  };
  const open = (isOn: boolean) => {
    if (pushSettings.hidden === !isOn) return;
    pushSettings.hidden = backButton.hidden = !isOn;
    parts.scroll.hidden = settingsButton.hidden = isOn;
    replaceContent(parts.title, isOn ? words.push_settings : parts.heading);
    if (isOn) {
      replaceContent(pushSettings, element('p', { class: 'muted small', part: 'hint', role: 'status' }, words.loading));
      void load();
      pushSettings.focus();
    } else if (parts.isShown()) settingsButton.focus();
    parts.show();
  };
  return {
    isOpen: () => !pushSettings.hidden,
    open,
    show: (isSignedIn) => {
      settingsButton.hidden = !pushSettings.hidden || !isSignedIn;
    },
  };
}
