/** The servers that this machine asks: those it was told, or those of its resolv.conf as it is now. */
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { parseResolvConf } from '../base/resolv-conf.ts';
import type { Server } from './exchange.ts';

export interface UpstreamServersOptions {
  readonly resolvConf: string;
  /** Used instead of the file's when there are any. */
  readonly given: readonly Server[];
  /** Where this server itself answers: never asked, or a question would go round for ever. */
  readonly own: readonly string[];
}

const dnsPort = 53;

/** Looks at the file when it is asked and reads it when it has changed; a file that is not there names none. */
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
