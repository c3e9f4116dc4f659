/**
 * Fetches a manifest at an http or https URL, like kubectl's -f: redirects are followed, a 5xx answer is
 * retried. Limits that kubectl lacks: number of redirects, size, and the server's silence. Nothing of the
 * kubeconfig is sent; https is verified with Node's and the system's authorities, and is not redirected to
 * http.
 */
import { isUtf8 } from 'node:buffer';
import * as http from 'node:http';
import * as https from 'node:https';
import { getCACertificates } from 'node:tls';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { trustPublicAuthorities } from '../../base/public-authorities.ts';

export interface RemoteLimits {
  readonly redirects: number;
  readonly bytes: number;
  /** Maximum time without data from the server, in milliseconds. */
  readonly silence: number;
  /** Total number of requests to a server that answers 5xx. */
  readonly attempts: number;
}

export const remoteLimits: RemoteLimits = {
  redirects: 10,
  bytes: 32 * 2 ** 20,
  silence: 30_000,
  attempts: 3,
};

export interface RemoteContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limits?: RemoteLimits;
}

/** Rejects with an Error that has the URL and the reason. */
export async function fetchManifest(address: string, context: RemoteContext): Promise<string> {
  const { attempts, redirects } = context.limits ?? remoteLimits;
  let url = parseUrl(address);
  let attempt = 1;
  for (let followed = 0; ; ) {
    const { status, reason, location, text } = await get(url, context);
    if (status === 200) return text;
    if (location !== undefined) {
      checkRedirects(url, followed++, redirects);
      url = redirected(url, location);
    } else if (status < 500 || attempt++ === attempts)
      throw new Error(
        `unable to read URL "${shown(url)}", server reported ${status} ${reason}, status code=${status}`,
      );
    // kubectl waits the same time.
    else await sleep(context.clock, 500, context.signal);
  }
}

function checkRedirects(url: URL, followed: number, limit: number): void {
  if (followed === limit)
    throw new Error(`unable to read URL "${shown(url)}": stopped after ${limit} redirects`);
}

function parseUrl(address: string): URL {
  const url = URL.parse(address);
  if (!url) throw new Error(`the URL passed to filename ${JSON.stringify(address)} is not valid`);
  return url;
}

function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from);
  if (!to || !/^https?:$/.test(to.protocol))
    throw new Error(
      `unable to read URL "${shown(from)}": it redirects to a URL that is neither http nor https`,
    );
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new Error(
      `unable to read URL "${shown(from)}": it redirects from https to http, where the server is not verified`,
    );
  return to;
}

/** Returns the address for messages, without a password. */
export const withoutPassword = (address: string): string => {
  const url = URL.parse(address);
  return url ? shown(url) : address;
};

const shown = ({ origin, pathname, search }: URL) => `${origin}${pathname}${search}`;

interface Answer {
  readonly status: number;
  readonly reason: string;
  /** Target of a redirect; undefined for other answers. */
  readonly location: string | undefined;
  readonly text: string;
}

async function get(url: URL, { env, signal, limits = remoteLimits }: RemoteContext): Promise<Answer> {
  const secure = url.protocol === 'https:';
  if (secure) trustPublicAuthorities();
  const authorities = () => [...getCACertificates('default'), ...getCACertificates('system')];
  const agent = secure
    ? new https.Agent({ proxyEnv: env, ca: authorities() })
    : new http.Agent({ proxyEnv: env });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { accept: 'application/yaml, application/json, text/plain, */*' };
  const request = (secure ? https.request : http.request)(url, { agent, headers, signal });
  request.setTimeout(limits.silence, () =>
    request.destroy(new Error(`the server sent nothing for ${limits.silence / 1000} s`)),
  );
  request.on('error', reject);
  request.on('response', (response) => {
    collect(response, limits.bytes).then(resolve, reject);
  });
  request.end();
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(`unable to read URL "${shown(url)}": ${errorMessage(error)}`, { cause: error });
  } finally {
    request.destroy();
    agent.destroy();
  }
}

async function collect(response: http.IncomingMessage, bytes: number): Promise<Answer> {
  const { statusCode: status = 0, statusMessage: reason = '', headers } = response;
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.location : undefined;
  const chunks: Uint8Array[] = [];
  if (status === 200) {
    let size = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > bytes) throw new Error(`it is larger than ${bytes / 2 ** 20} MiB`);
      chunks.push(chunk);
    }
  }
  const whole = Buffer.concat(chunks);
  if (!isUtf8(whole)) throw new Error('it is binary or not UTF-8: expected YAML or JSON');
  return { status, reason, location, text: whole.toString('utf8') };
}
