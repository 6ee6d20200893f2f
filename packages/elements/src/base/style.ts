import * as token from './tokens.js';

/**
 * The variables that pages set, with colours that follow `color-scheme` of the page. Names with `--_` are private. Text has a
 * contrast of at least 4.5:1. `--_line` is decoration, and `--_control`, the outline of controls, has a contrast of at least 3:1.
 */
export const baseStyle = `
:host {
  --_ink: var(--postern-color, ${token.ink});
  --_muted: var(--postern-muted, ${token.ink3});
  --_ground: var(--postern-background, ${token.surface});
  --_surface: var(--postern-surface, ${token.hover});
  --_accent: var(--postern-accent, ${token.accent});
  --_solid: var(--postern-accent, ${token.accentSolid});
  --_on-accent: var(--postern-on-accent, ${token.onSolid});
  --_danger: var(--postern-danger, ${token.bad});
  --_line: var(--postern-border, ${token.line});
  --_control: var(--postern-border-control, ${token.lineControl});
  --_radius: var(--postern-radius, ${token.r6});
  --_space: var(--postern-space, 16px);
  --_focus: var(--postern-focus, var(--_accent));
  --_shadow: var(--postern-shadow, ${token.e2});
  --_mono: ${token.mono};
  color: var(--_ink);
  font-family: var(--postern-font, inherit);
  font-size: var(--postern-font-size, ${token.t15});
  line-height: 1.45;
  overflow-wrap: anywhere;
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::after { box-sizing: border-box; }
h2, h3, p, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h2, h3 { font-size: 1.0625em; font-weight: ${token.wTitle}; line-height: ${token.lTight}; overflow-wrap: break-word; }
svg { display: block; flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
button, input { font: inherit; color: inherit; letter-spacing: inherit; }
button { background: none; border: 0; padding: 0; cursor: pointer; text-align: start; touch-action: manipulation;
  overflow-wrap: break-word; transition: background ${token.mFast}; }
button:disabled { cursor: default; }
.link { color: var(--_accent); font-weight: ${token.wStrong}; padding-block: 4px; border-radius: 4px; }
.link:hover:enabled { text-decoration: underline; text-underline-offset: 2px; }
.link:disabled { color: var(--_muted); font-weight: 400; }
.act { min-height: 32px; padding: 4px 12px; border: 1px solid var(--_control); border-radius: var(--_radius); background: var(--_ground);
  font-size: 0.8667em; font-weight: ${token.wStrong}; text-align: center; }
.act:hover { background: var(--_surface); }
.act.quiet { border-color: transparent; background: none; color: var(--_muted); }
.act.quiet:hover { background: var(--_surface); color: var(--_ink); }
.act.bad { color: var(--_danger); }
.icon { display: grid; place-items: center; min-width: 32px; height: 32px; border-radius: var(--_radius); color: var(--_muted); }
.icon:hover { background: var(--_surface); color: var(--_ink); }
.muted { color: var(--_muted); }
.small { font-size: 0.8667em; }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skeleton { border-radius: var(--_radius); background: var(--_surface); animation: fade 1s ease-in-out infinite alternate; }
@keyframes fade { to { opacity: 0.45; } }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--_focus); outline-offset: 2px; }
@media (pointer: coarse) { .act { min-height: 40px; } }
@media (prefers-contrast: more) { :host { --_line: var(--_control); --_muted: var(--_ink); } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
`;

/** The style of errors. */
export const issueStyle = `
.error:empty, .issue:empty { display: none; }
.error { color: var(--_danger); }
.issue { position: relative; padding: 10px 14px 10px 40px; border-radius: var(--_radius); background: var(--postern-surface, ${token.badSoft}); font-size: 0.9333em; }
.issue:dir(rtl) { padding: 10px 40px 10px 14px; }
.issue::before { content: "!" / ""; position: absolute; inset-block-start: 12px; inset-inline-start: 14px; width: 16px; height: 16px; border-radius: 50%;
  background: var(--_danger); color: var(--_ground); font: 700 11px/16px var(--_mono); text-align: center; }
.issue .act { margin-inline-start: 8px; }
`;
