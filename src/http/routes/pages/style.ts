import type { BrandColors } from './colors.js';

/**
 * The style of every page: the grounds and the fonts are those of the console. The account is as high as the window from the start, so
 * the links below it are out of sight, and nothing that is seen moves when it appears.
 */
export const pageStyle = ({ light, dark }: { readonly light: BrandColors; readonly dark: BrandColors }): string => `
:root { color-scheme: light dark; --ink: light-dark(#1b1a17, #eeede8); --muted: light-dark(#69675f, #999689);
  --postern-accent: light-dark(${light.accent}, ${dark.accent}); --postern-on-accent: light-dark(${light.onAccent}, ${dark.onAccent}); }
* { box-sizing: border-box; }
html { background: light-dark(#f5f4f0, #10100f); color: var(--ink); -webkit-text-size-adjust: 100%;
  font-family: -apple-system, BlinkMacSystemFont, "Segoe UI Variable Text", "Segoe UI", "Adwaita Sans", Inter, Roboto,
    "Noto Sans", "Liberation Sans", Arial, sans-serif; }
body { margin: 0; font-size: 0.9375rem; line-height: 1.5; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; }
header, main, footer { width: 100%; max-width: calc(23rem + 32px); margin-inline: auto; padding-inline: 16px; }
.wide header, .wide main, .wide footer { max-width: calc(44rem + 32px); }
header { padding-block: clamp(24px, 9vh, 88px) 24px; }
.wide header { padding-block: 32px 24px; }
h1 { margin: 0; font-size: 1.25rem; font-weight: 620; line-height: 1.25; text-align: center; overflow-wrap: anywhere; }
.wide h1 { text-align: start; }
h1 img { display: block; margin-inline: auto; max-width: 100%; }
.wide h1 img { margin-inline: 0; }
@media (prefers-color-scheme: dark) { h1 img { padding: 8px; border-radius: 8px; background: #eeede8; } }
main { flex: 1; padding-bottom: 32px; }
footer { display: flex; flex-wrap: wrap; gap: 4px 20px; justify-content: center; padding-block: 16px 24px; font-size: 0.8125rem; }
footer:empty { display: none; }
footer a { color: var(--muted); }
postern-sign-in { display: block; max-width: none; min-height: 21rem; }
postern-account { display: block; max-width: none; padding: 0; min-height: 100vh; min-height: 100dvh; }
.app { margin: 0; color: var(--muted); }
.app b { color: var(--ink); font-weight: 550; overflow-wrap: anywhere; }
.card { display: grid; gap: 16px; padding: 24px; border: 1px solid light-dark(#e8e6e0, #2a2926); border-radius: 10px;
  background: light-dark(#fff, #181816); }
.card h2 { margin: 0; font-size: 1.25em; font-weight: 620; line-height: 1.25; overflow-wrap: anywhere; }
.card h2:focus { outline: none; }
.card p { margin: 0; overflow-wrap: anywhere; }
.card > div { display: grid; gap: 12px; }
.muted { color: var(--muted); }
.button { display: flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: 8px 16px; border-radius: 6px;
  border: 1px solid light-dark(#88857b, #7b786f); background: none; color: inherit; font: inherit; font-weight: 550;
  text-align: center; text-decoration: none; cursor: pointer; overflow-wrap: anywhere; }
.button:hover { background: light-dark(#f4f3ef, #21201d); }
.button.primary { border-color: transparent; background: var(--postern-accent); color: var(--postern-on-accent); }
.button.primary:hover { box-shadow: inset 0 0 0 99px rgb(0 0 0 / 12%); }
.button[aria-disabled=true] { cursor: progress; opacity: 0.7; }
.link { border: 0; padding: 4px 0; background: none; color: var(--postern-accent); font: inherit; font-weight: 550; cursor: pointer; }
.link:hover { text-decoration: underline; text-underline-offset: 2px; }
.center { justify-self: center; }
.issue { color: light-dark(#b3261a, #ff9488); }
.issue:empty { display: none; }
.code { display: block; font: 600 2rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: 0.2em; }
.apps { display: grid; gap: 12px; margin-top: 32px; }
.apps h2 { margin: 0; font-size: 1.0625em; font-weight: 620; line-height: 1.25; }
.apps b { display: block; font-weight: 550; }
.apps small { font-size: 0.9em; }
.apps p { font-size: 0.9em; }
.apps p { margin: 0; }
.apps ul { margin: 0; padding: 0; list-style: none; border: 1px solid light-dark(#e8e6e0, #2a2926); border-radius: 10px;
  background: light-dark(#fff, #181816); }
.apps li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 16px; padding: 10px 16px; }
.apps li + li { border-top: 1px solid light-dark(#e8e6e0, #2a2926); }
.apps li span { min-width: 0; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--postern-accent); outline-offset: 2px; }
[hidden] { display: none !important; }
@media (prefers-contrast: more) { :root { --muted: var(--ink); } }
@media (pointer: coarse) { .button { font-size: 16px; } .link { padding-block: 10px; } }
`;
