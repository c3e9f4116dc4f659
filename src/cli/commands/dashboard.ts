/** `ctl dashboard`: opens the dashboard in a browser, in a session of the user. */
import { StatusError } from '../../apimachinery/status-error.ts';
import { aborted } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { startLoopbackProxy } from '../dashboard/loopback-proxy.ts';
import { browserProgram, openBrowser } from '../dashboard/open-browser.ts';
import type { FlagTable } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  port: {
    type: 'string',
    short: 'p',
    hint: 'PORT',
    about: 'port of this machine; 0: any free port',
    usual: '0',
  },
  url: { type: 'boolean', about: 'print the address, and open no browser' },
  direct: {
    type: 'boolean',
    about: "open the API server's own address, whose certificate the browser must trust",
  },
} as const satisfies FlagTable;

export const dashboard: Verb = {
  about: 'open the dashboard in a browser, with your rights',
  group: 'Cluster Management Commands',
  flags: flagTable,
  examples: [
    'ctl dashboard # open the dashboard at a free port of this machine',
    'ctl dashboard --url --port=8443 # print its address, which works once and within a minute',
    "ctl dashboard --direct # open it at the server's own address",
  ],
  async run({ flags, io, cluster }) {
    const port = flags.whole('port') ?? 0;
    if (port < 0 || port > 65_535)
      throw new UsageError(`--port: expected a port from 0 to 65535, got ${port}`);
    const own = cluster();
    const dialing = await own.dial('/dashboard/');
    if (!dialing.url.startsWith('wss:'))
      throw new Error(`${own.server ?? 'the server'} has no TLS: use the address of the API server itself`);
    const isUrl = flags.on('url');
    if (flags.on('direct')) return openDirectly(own, isUrl, io);
    const proxy = await startLoopbackProxy(await own.dial(''), port, io.clock);
    try {
      await openUntil(`http://${proxy.host}/dashboard/`, await newCode(own), isUrl, io, aborted(io.signal));
    } finally {
      proxy.close();
    }
  },
};

async function openDirectly(own: Cluster, isUrl: boolean, io: Io): Promise<void> {
  const { url: webSocket } = await own.dial('/dashboard/');
  const url = webSocket.replace(/^wss:/, 'https:');
  const code = await newCode(own);
  // The browser may read its page until the code expires.
  await openUntil(url, code, isUrl, io, isUrl ? Promise.resolve() : sleep(io.clock, codeMs, io.signal));
}

/** Prints the address, opens the browser, and waits for `end`. */
async function openUntil(
  url: string,
  code: string,
  isUrl: boolean,
  { out, err, env }: Io,
  end: Promise<void>,
): Promise<void> {
  const address = `${url}#code=${code}`;
  out(`${address}\n`);
  err('The address works once, and within a minute. Press Ctrl-C to end.\n');
  const program = isUrl ? undefined : browserProgram(env, process.platform);
  const failed = (error: Error) => err(`Warning: the browser was not started: ${errorMessage(error)}\n`);
  const browser = program === undefined ? undefined : openBrowser(program, address, failed);
  try {
    await end;
  } finally {
    browser?.close();
  }
}

/** Lifetime of a one-time code in milliseconds. */
const codeMs = 60_000;

/** Returns a one-time code that begins a session of this user. */
async function newCode(cluster: Cluster): Promise<string> {
  try {
    const { code } = await cluster.send('POST', '/dashboard/code', undefined);
    if (typeof code === 'string' && /^[\w-]+$/.test(code)) return code;
  } catch (error) {
    const isAbsent = error instanceof StatusError && [403, 404].includes(error.status.code);
    if (!isAbsent) throw error;
  }
  throw new Error('the server has no dashboard: it is not minik8s, or runs with --dashboard=false');
}
