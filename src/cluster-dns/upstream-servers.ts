/** The name servers of this machine: those that were configured, or those of its current resolv.conf. */
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { parseResolvConf } from '../formats/resolv-conf.ts';
import type { Server } from './exchange.ts';

export interface UpstreamServersOptions {
  readonly resolvConf: string;
  /** Servers used instead of the file's, if there are any. */
  readonly given: readonly Server[];
  /** Addresses of this server itself, which are never queried: otherwise a query would go round in a loop. */
  readonly own: readonly string[];
}

const dnsPort = 53;

/**
 * Returns a function that lists the servers. It checks the file at each call and reads it when it has
 * changed; a missing file counts as empty.
 */
export function upstreamServers(options: UpstreamServersOptions): () => Promise<readonly Server[]> {
  const { resolvConf, own } = options;
  const others = (servers: readonly Server[]) => servers.filter(({ address }) => !own.includes(address));
  const given = others(options.given);
  if (options.given.length > 0) return async () => given;
  let seen = '';
  let servers: readonly Server[] = [];
  return async () => {
    try {
      const { mtimeMs, ino, size } = await stat(resolvConf);
      const state = `${ino} ${mtimeMs} ${size}`;
      if (state === seen) return servers;
      const { nameservers } = parseResolvConf(await readFile(resolvConf, 'utf8'));
      servers = others(
        nameservers
          .filter((one) => isIP(one.replace(/%.*$/, '')) !== 0)
          .map((address) => ({ address, port: dnsPort })),
      );
      seen = state;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      [seen, servers] = ['', []];
    }
    return servers;
  };
}
