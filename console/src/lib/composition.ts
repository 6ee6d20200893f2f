/**
 * While an input method composes a word, its keys choose among its suggestions: Enter, Escape, Tab and the arrows are not for the
 * page. The first listener of the page stops them, so that no component has to ask. In Safari, the Enter that ends a composition
 * comes after it, with the key code of a composition.
 */
export function keepKeysOfCompositions(): void {
  for (const type of ['keydown', 'keyup'] as const) {
    window.addEventListener(
      type,
      (event) => {
        if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }
}
