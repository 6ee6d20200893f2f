const gap = 8;

/** Puts an open popover below a button, or above it if there is more space, always inside the window. */
export function positionPanel(panel: HTMLElement, button: HTMLElement): void {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const spaceBelow = height - bottom - 2 * gap;
  const spaceAbove = top - 2 * gap;
  const isBelow = spaceBelow >= Math.min(360, spaceAbove);
  const isLeftToRight = getComputedStyle(button).direction === 'ltr';
  const preferredLeft = isLeftToRight ? right - panel.offsetWidth : left;
  const maxLeft = width - panel.offsetWidth - gap;
  // Properties, because a content security policy may refuse `style` attributes.
  const { style } = panel;
  style.right = 'auto';
  style.left = `${Math.max(gap, Math.min(preferredLeft, maxLeft))}px`;
  style.top = isBelow ? `${bottom + gap}px` : 'auto';
  style.bottom = isBelow ? 'auto' : `${height - top + gap}px`;
  style.maxHeight = `${isBelow ? spaceBelow : spaceAbove}px`;
}
