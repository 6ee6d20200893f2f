const intervalMs = 500;

/**
 * Calls back when the shell that npm started this process in has ended. `npx postern serve` and a script such as
 * `"start": "postern serve"` run in a shell. npm sends SIGTERM only to that shell, which ends and leaves this process running.
 */
export function watchNpmShell(environment: Readonly<Record<string, string | undefined>>, onEnd: () => void): void {
  // Other programs inherit the variable, so it must name this command.
  if (!/^["']?postern\b/.test(environment.npm_lifecycle_script ?? '')) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onEnd();
  }, intervalMs).unref();
}
