import { type Attributes, element } from './dom.js';
import { wStrong } from './tokens.js';

/** The style of small buttons. */
export const actStyle = `
.act { min-height: 32px; padding: 4px 12px; border: 1px solid var(--_control); border-radius: var(--_radius); background: var(--_ground);
  font-size: 0.8667em; font-weight: ${wStrong}; text-align: center; }
.act:hover { background: var(--_surface); }
.act.quiet { border-color: transparent; background: none; color: var(--_muted); }
.act.quiet:hover { background: var(--_surface); color: var(--_ink); }
.act.bad { color: var(--_danger); }
@media (pointer: coarse) { .act { min-height: 40px; } }
`;

/** A small button, such as those of a line. */
export const smallButton = (text: string, onClick: () => unknown, attributes: Attributes = {}) =>
  element('button', { type: 'button', class: 'act', part: 'button', ...attributes, click: onClick }, text);
