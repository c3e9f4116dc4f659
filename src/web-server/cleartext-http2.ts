/**
 * HTTP/2 on ports without TLS. Since version 1.25.1 nginx distinguishes it from HTTP/1.1 by the first bytes
 * of a connection; older versions would serve nothing else on such a port. Pure.
 */
import type { Site } from './site.ts';

const firstVersion = [1, 25, 1] as const;

/** Returns the version in the output of `nginx -v`, such as `1.27.4`; undefined if there is none. */
export const versionIn = (output: string): string | undefined => /nginx\/(\d+\.\d+\.\d+)/.exec(output)?.[1];

/** Returns true if a server of this version has both protocols on one port. */
export function distinguishesHttp2(version: string | undefined): boolean {
  const numbers = (version ?? '0.0.0').split('.').map(Number);
  const at = firstVersion.findIndex((number, index) => number !== numbers[index]);
  return at === -1 || (numbers[at] ?? 0) > (firstVersion[at] ?? 0);
}

/** Returns the ports without TLS on which sites require HTTP/2, sorted. */
export const http2Ports = (sites: readonly Site[]): readonly number[] =>
  [...new Set(sites.flatMap(({ listen }) => (listen?.http2 ? [listen.port] : [])))].sort((a, b) => a - b);

/** Returns the sites for a server that cannot distinguish HTTP/2 from HTTP/1.1. */
export const withoutHttp2 = (sites: readonly Site[]): readonly Site[] =>
  sites.map((site) => {
    if (!site.listen?.http2) return site;
    const { port, tls } = site.listen;
    return { ...site, listen: { port, tls } };
  });
