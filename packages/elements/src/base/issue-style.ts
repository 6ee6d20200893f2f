import { badSoft } from './tokens.js';

/** The font of codes. */
export const mono = 'ui-monospace, Menlo, Consolas, monospace';

/** The style of errors. */
export const issueStyle = `
.error:empty, .issue:empty { display: none; }
.error { color: var(--_danger); }
.issue { position: relative; padding: 10px 14px 10px 40px; border-radius: var(--_radius); background: var(--postern-surface, ${badSoft}); font-size: 0.9333em; }
.issue:dir(rtl) { padding: 10px 40px 10px 14px; }
.issue::before { content: "!" / ""; position: absolute; inset-block-start: 12px; inset-inline-start: 14px; width: 16px; height: 16px; border-radius: 50%;
  background: var(--_danger); color: var(--_ground); font: 700 11px/16px sans-serif; text-align: center; }
`;
