/**
 * Finds the authority to trust by its hash alone: the server presents the cluster's authority in its chain,
 * and the authority whose public key has the hash that `minik8s token create` printed is trusted (kubeadm's
 * discovery with --discovery-token-ca-cert-hash). Nothing secret is sent before that.
 */
import { X509Certificate } from 'node:crypto';
import * as https from 'node:https';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { authorityHash } from '../pki/authority-hash.ts';
import { type ClockAdvice, clockAdvice, type ShownCertificates } from './clock-skew.ts';

export interface DiscoveryOptions {
  /** URLs such as `https://192.0.2.10:6443`; the first server that answers is used. */
  readonly servers: readonly string[];
  /** The prefix `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Timeout of each server in milliseconds; default 10 s. */
  readonly patienceMs?: number;
}

/** Resolves to the authority in PEM; rejects with one line if no server answers or presents it. */
export async function discoverAuthority(options: DiscoveryOptions, signal: AbortSignal): Promise<string> {
  const { servers, hash, clock, warn, patienceMs = 10_000 } = options;
  const failures: string[] = [];
  for (const server of servers) {
    let shown: Shown;
    try {
      shown = await look(server, clock, patienceMs, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(`${server} (${errorMessage(error)})`);
      continue;
    }
    const authority = shown.chain.find((certificate) => certificate.ca && hashOf(certificate) === hash);
    if (authority === undefined) throw new Error(wrongHash(server, hash, shown.chain));
    const advice = clockAdvice(server, validities([shown.chain[0], authority], shown), clock.now());
    if (advice) giveAdvice(advice, warn);
    return authority.toString();
  }
  throw new Error(`no API server answers: ${failures.join(', ')}; correct server: or start the master`);
}

const hashOf = (certificate: X509Certificate) => authorityHash(certificate.toString());

function wrongHash(server: string, hash: string, chain: readonly X509Certificate[]): string {
  const shown = chain.filter(({ ca }) => ca).map(hashOf);
  const what = shown.length > 0 ? `an authority with the hash ${shown.join(', ')}` : 'no authority';
  return `${server} presents ${what}, not ${hash}: it belongs to another cluster, or ca-cert-hash is wrong; copy it from minik8s token create`;
}

interface Shown {
  /** The server's own certificate comes first. */
  readonly chain: readonly X509Certificate[];
  /** The server's time in milliseconds since the epoch; undefined without a Date header. */
  readonly serverTime: number | undefined;
}

function look(server: string, clock: Clock, patienceMs: number, signal: AbortSignal): Promise<Shown> {
  const url = new URL(server);
  return new Promise((resolve, reject) => {
    // The server is verified afterwards, by the hash; the request contains nothing secret.
    const request = https.get({
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port || 443,
      path: '/livez',
      agent: false,
      rejectUnauthorized: false,
    });
    const timer = clock.after(patienceMs, () =>
      request.destroy(new Error(`no answer within ${patienceMs / 1000} s`)),
    );
    const forget = onAbort(signal, () => request.destroy(signal.reason));
    request.once('close', () => {
      timer.cancel();
      forget();
    });
    request.once('error', (error) => reject(explained(error)));
    request.once('response', (response) => {
      const chain = chainOf((response.socket as TLSSocket).getPeerCertificate(true));
      const serverTime = Date.parse(response.headers.date ?? '');
      resolve({ chain, serverTime: Number.isNaN(serverTime) ? undefined : serverTime });
      request.destroy();
    });
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'the host name is unknown',
  EPROTO: 'it does not speak TLS',
};

function explained(error: NodeJS.ErrnoException): Error {
  const reason = reasons[error.code ?? ''];
  return reason === undefined ? error : new Error(reason);
}

/**
 * Node returns the certificates as a list linked by `issuerCertificate`; a self-signed certificate ends it
 * with a link to itself.
 */
function chainOf(first: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  for (let next: DetailedPeerCertificate | undefined = first; next?.raw && !seen.has(next); ) {
    seen.add(next);
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}

function validities(
  certificates: readonly (X509Certificate | undefined)[],
  { serverTime }: Shown,
): ShownCertificates {
  const all = certificates.filter((certificate) => certificate !== undefined);
  return {
    notBefore: Math.max(...all.map(({ validFromDate }) => validFromDate.getTime())),
    notAfter: Math.min(...all.map(({ validToDate }) => validToDate.getTime())),
    serverTime,
  };
}

/** Throws an Error for advice without which joining is impossible, and passes other advice to `warn`. */
function giveAdvice({ fatal, message }: ClockAdvice, warn: (message: string) => void): void {
  if (fatal) throw new Error(message);
  warn(message);
}
