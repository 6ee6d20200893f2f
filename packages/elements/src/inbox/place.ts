const gap = 8;

/** Puts an open popover below a button, or above it where there is more room, and inside the window. */
export function place(panel: HTMLElement, button: HTMLElement): void {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const below = height - bottom - 2 * gap;
  const above = top - 2 * gap;
  const isBelow = below >= Math.min(360, above);
  const isLeftToRight = getComputedStyle(button).direction === 'ltr';
  const wanted = isLeftToRight ? right - panel.offsetWidth : left;
  const most = width - panel.offsetWidth - gap;
  // The object model: a content security policy refuses style attributes, but not this.
  const { style } = panel;
  style.left = `${Math.max(gap, Math.min(wanted, most))}px`;
  style.top = isBelow ? `${bottom + gap}px` : 'auto';
  style.bottom = isBelow ? 'auto' : `${height - top + gap}px`;
  style.maxHeight = `${isBelow ? below : above}px`;
}
