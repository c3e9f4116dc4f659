/**
 * Chromium in a network namespace of its own: it closes its connections whenever a link of its namespace
 * changes, and other tests change links. It reaches only a port that leads to the cluster, and a test
 * can cut that.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { makeDirectory } from './belongings.ts';
import type { Cleanup } from './cluster.ts';
import { claimNamespace } from './namespace.ts';

/** The program of Debian's package; Ubuntu's is a snap, which cannot run in a namespace. */
const program = '/usr/bin/chromium';
/** Port in the browser's namespace. */
const port = 6443;
const relay = join(import.meta.dirname, 'namespace-relay.ts');

/** Pictures of the pages, for inspection by people. */
export const pictures = join(import.meta.dirname, '../../../dist/dashboard-pictures');

export interface PageOptions {
  readonly colors?: 'light' | 'dark';
  readonly size?: 'desk' | 'phone';
}

const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 780 } } as const;

export class BrowserRig {
  readonly #browser: Browser;
  readonly #target: URL;
  readonly #connections = new Set<Socket>();
  /** Lines that pages wrote to their consoles as errors. */
  readonly errors: string[] = [];
  #isCut = false;

  private constructor(browser: Browser, target: URL) {
    this.#browser = browser;
    this.#target = target;
  }

  /** Address of the dashboard as the browser sees it. */
  readonly origin = `https://127.0.0.1:${port}`;

  /** Starts the browser; `url` is that of the API server. Everything is removed at the end of the test. */
  static async start(cleanup: Cleanup, url: string): Promise<BrowserRig> {
    if (!existsSync(program)) throw new Error(`${program} is missing; run bin/setup --tests`);
    const directory = makeDirectory('minik8s-browser-');
    const { name } = claimNamespace('mk8s-e2e-web-', 256);
    cleanup.after(async () => void execFileSync('ip', ['netns', 'delete', name]));
    execFileSync('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    const enter = ['--net', `/run/netns/${name}`].join('=');
    const launcher = join(directory, 'chromium');
    writeFileSync(launcher, `#!/bin/sh\nexec nsenter ${enter} ${program} "$@"\n`);
    chmodSync(launcher, 0o755);
    const path = join(directory, 'socket');
    const inside = spawn('nsenter', [enter, process.execPath, relay, String(port), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanup.after(async () => end(inside));
    await once(inside.stdout, 'data');
    const browser = await chromium.launch({ executablePath: launcher, args: ['--no-sandbox'] });
    cleanup.after(() => browser.close());
    const rig = new BrowserRig(browser, new URL(url));
    const server = rig.#listen(path);
    cleanup.after(async () => {
      rig.cut();
      server.close();
    });
    mkdirSync(pictures, { recursive: true });
    return rig;
  }

  #listen(path: string): Server {
    return createServer((client) => {
      if (this.#isCut) return void client.destroy();
      const server = connect(Number(this.#target.port), this.#target.hostname);
      client.pipe(server).pipe(client);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#connections.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#connections.delete(one);
          other.destroy();
        });
      }
    }).listen(path);
  }

  /** Ends all connections of the browser, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const connection of this.#connections) connection.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Opens a context of the browser, which has cookies and storage of its own, with one page. */
  async open({ colors = 'light', size = 'desk' }: PageOptions = {}): Promise<Page> {
    const context: BrowserContext = await this.#browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: sizes[size],
      colorScheme: colors,
      baseURL: this.origin,
    });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(`uncaught: ${error.stack ?? error.message}`));
    return page;
  }

  /** Opens a page below `/dashboard/` as the user of a token. */
  async signIn(token: string, path = '', options: PageOptions = {}): Promise<Page> {
    const page = await this.open(options);
    await page.goto(`/dashboard/${path}`);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    // On a narrow screen the navigation is hidden at first.
    await page.locator('nav[aria-label="Pages and kinds"]').waitFor({ state: 'attached' });
    return page;
  }

  /** Keeps a picture of a page. */
  picture(page: Page, name: string): Promise<Buffer> {
    return page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}
