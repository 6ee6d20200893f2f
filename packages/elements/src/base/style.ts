/**
 * The variables that pages set, with colours that follow `color-scheme` of the page. Names with `--_` are private. Text has a
 * contrast of at least 4.5:1, outlines of controls of at least 3:1.
 */
export const baseStyle = `
:host {
  --_ink: var(--postern-color, light-dark(#1b1a17, #eeede8));
  --_muted: var(--postern-muted, light-dark(#5f5d55, #a8a59b));
  --_ground: var(--postern-background, light-dark(#fff, #181816));
  --_surface: var(--postern-surface, light-dark(#f4f3ef, #24231f));
  --_accent: var(--postern-accent, light-dark(#2a48c4, #93a7ff));
  --_solid: var(--postern-accent, light-dark(#2a48c4, #4560e0));
  --_on-accent: var(--postern-on-accent, #fff);
  --_danger: var(--postern-danger, light-dark(#b3261a, #ff9488));
  --_line: var(--postern-border, light-dark(#e2dfd8, #35332f));
  --_outline: var(--postern-border, light-dark(#d6d3ca, #4a4842));
  --_edge: var(--postern-border, light-dark(#88857b, #7b786f));
  --_radius: var(--postern-radius, 8px);
  --_space: var(--postern-space, 16px);
  --_focus: var(--postern-focus, var(--_accent));
  --_shadow: var(--postern-shadow, 0 8px 28px -6px light-dark(rgb(27 26 23 / 22%), rgb(0 0 0 / 75%)));
  color: var(--_ink);
  font-family: var(--postern-font, inherit);
  font-size: var(--postern-font-size, 0.9375rem);
  line-height: 1.45;
  overflow-wrap: anywhere;
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::after { box-sizing: border-box; }
h2, h3, p, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h2, h3 { font-size: 1.0625em; font-weight: 620; line-height: 1.25; }
svg { display: block; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
button, input { font: inherit; color: inherit; letter-spacing: inherit; }
button { background: none; border: 0; padding: 0; cursor: pointer; text-align: start; touch-action: manipulation; }
button:disabled { cursor: default; }
.link { color: var(--_accent); font-weight: 550; padding-block: 4px; border-radius: 4px; overflow-wrap: normal; }
.link:hover:enabled { text-decoration: underline; text-underline-offset: 2px; }
.link:disabled { color: var(--_muted); font-weight: 400; }
.icon { display: grid; place-items: center; min-width: 32px; height: 32px; border-radius: var(--_radius); color: var(--_muted); }
.icon:hover { background: var(--_surface); color: var(--_ink); }
.muted { color: var(--_muted); }
.small { font-size: 0.8667em; }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--_focus); outline-offset: 2px; }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
`;

/** The style of errors. */
export const issueStyle = `
.error:empty, .issue:empty { display: none; }
.error { color: var(--_danger); }
.issue { padding: 10px 12px; border-radius: var(--_radius); border-inline-start: 3px solid var(--_danger); background: var(--_surface);
  font-size: 0.9333em; }
`;
