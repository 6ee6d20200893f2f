/** Moves the focus to the row of the page's table that had it last, or the first one. The shell calls it for `j`. */
export function focusFirstRow(): void {
  document.querySelector<HTMLElement>('[data-rows] tbody tr[tabindex="0"]')?.focus();
}
