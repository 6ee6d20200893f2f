import { formStyle } from '../base/form-style.js';
import { mono } from '../base/issue-style.js';

/** The style of the dialog and of its content. It is loaded with the dialog. */
export const dialogStyle = `${formStyle}
dialog { width: min(27rem, calc(100vw - 24px)); max-height: calc(100dvh - 24px); padding: calc(var(--_space) * 1.5);
  border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 4px); background: var(--_ground); color: var(--_ink);
  box-shadow: var(--_shadow); overflow-y: auto; }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog h2 { font-size: 1.2em; }
.body { display: grid; gap: 14px; margin-block: 10px 8px; }
dialog > .button { width: 100%; border-color: transparent; color: var(--_muted); }
.choice { display: flex; gap: 10px; align-items: baseline; }
.choice input { flex: none; width: 16px; height: 16px; margin: 0; accent-color: var(--_accent); transform: translateY(2px); }
.links { display: flex; flex-wrap: wrap; gap: 4px 18px; }
.qr { width: 12rem; height: 12rem; max-width: 100%; margin-inline: auto; background: #fff; border-radius: 6px; fill: #000; stroke: none; }
.secret { display: block; padding: 10px 14px; border-radius: var(--_radius); background: var(--_surface); text-align: center; text-wrap: balance;
  letter-spacing: 0.04em; user-select: all; overflow-wrap: normal; }
a.link { text-decoration: none; }
.secret, .codes { font-family: ${mono}; }
.codes { columns: 2; padding: 12px 16px; border-radius: var(--_radius); background: var(--_surface); user-select: all; }
.codes li { white-space: nowrap; font-size: min(1em, 6.4vw); }
@media (max-width: 30rem) { .codes { columns: 1; text-align: center; } dialog { padding: var(--_space); } }
`;
