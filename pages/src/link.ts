/** Shows the code of a link in a mail, and sends it nowhere. A fragment is never sent to a server. The code leaves the address at once. */
function show(): void {
  const [, code] = /^#[0-9a-f-]{36}\.(\d{6})$/.exec(location.hash) ?? [];
  const [output, shown, missing] = ['output', '#shown', '#missing'].map((one) =>
    document.querySelector<HTMLElement>(one),
  );
  if (code === undefined || !output || !shown || !missing) return;
  output.textContent = code;
  shown.hidden = false;
  missing.hidden = true;
  history.replaceState(null, '', location.pathname);
}

show();
addEventListener('hashchange', show);
