/**
 * Opens an address in the user's browser. All users of the machine can read the arguments of a process, so
 * the browser gets the path of a page that only the user may read, which leads to the address.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface OpenedBrowser {
  /** Removes the page. */
  close(): void;
}

/** Returns the program that opens pages; undefined where there is no desktop. */
export function browserProgram(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): string | undefined {
  const [chosen] = (env.BROWSER ?? '').split(':');
  if (chosen) return chosen;
  if (platform === 'darwin') return 'open';
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Starts the browser; `onFailed` is called if the program cannot be started. */
export function openBrowser(program: string, url: string, onFailed: (error: Error) => void): OpenedBrowser {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-dashboard-'));
  const page = join(folder, 'dashboard.html');
  writeFileSync(page, redirect(url), { mode: 0o600 });
  const browser = spawn(program, [page], { detached: true, stdio: 'ignore' });
  browser.once('error', onFailed);
  browser.unref();
  return { close: () => rmSync(folder, { recursive: true, force: true }) };
}

/** `url` consists of characters that need no escape. */
const redirect = (url: string) =>
  `<!doctype html>\n<meta charset="utf-8" />\n<title>minik8s</title>\n` +
  `<meta name="referrer" content="no-referrer" />\n<meta http-equiv="refresh" content="0;url=${url}" />\n`;
