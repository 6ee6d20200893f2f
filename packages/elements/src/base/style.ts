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
  --_shadow: var(--postern-shadow, ${token.shade2});
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
button { background: none; border: 0; padding: 0; cursor: pointer; text-align: start; overflow-wrap: break-word; }
button:disabled { cursor: default; }
.link { color: var(--_accent); font-weight: ${token.wStrong}; padding-block: 4px; border-radius: 4px; }
.link:hover:enabled { text-decoration: underline; text-underline-offset: 2px; }
.link:disabled { color: var(--_muted); font-weight: 400; }
.icon { display: grid; place-items: center; min-width: 2rem; height: 2rem; border-radius: var(--_radius); color: var(--_muted); }
.icon:hover { background: var(--_surface); color: var(--_ink); }
.muted { color: var(--_muted); }
.small { font-size: 0.8667em; }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--_focus); outline-offset: 2px; }
@media (prefers-contrast: more) { :host { --_line: var(--_control); --_muted: var(--_ink); } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
`;
