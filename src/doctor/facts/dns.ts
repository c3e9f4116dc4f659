/** Reads the name servers of this machine, and asks them and cluster DNS. */
import { Resolver } from 'node:dns/promises';
import { errorMessage } from '../../base/log.ts';
import { parseResolvConf } from '../../formats/resolv-conf.ts';
import type { DnsFacts } from '../checks/dns.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

/**
 * Timeouts of the first of two tries; the second one has twice the time. A silent cluster DNS is a fault, so
 * it gets more.
 */
const upstreamTimeoutMs = 700;
const clusterTimeoutMs = 2_000;

export async function readDns({ resolvConf, situation }: Sources): Promise<DnsFacts> {
  const text = await textOf(resolvConf);
  const { nameservers } = parseResolvConf(text);
  const { clusterDNS, clusterDomain, hasNode, pid } = situation;
  const [silent, clusterName] = await Promise.all([
    silentOf(nameservers.filter((server) => server !== clusterDNS)),
    hasNode && pid !== undefined ? find(`kubernetes.default.svc.${clusterDomain}`, clusterDNS) : undefined,
  ]);
  return { path: resolvConf, text, silent, ...(clusterName && { clusterName }) };
}

const asking = (server: string, timeout: number): Resolver => {
  const resolver = new Resolver({ timeout, tries: 2 });
  resolver.setServers([server]);
  return resolver;
};

/** Resolves to the servers that do not answer; every answer counts, also a refusal. */
async function silentOf(servers: readonly string[]): Promise<readonly string[]> {
  const states = await Promise.all(
    servers.map((server) =>
      asking(server, upstreamTimeoutMs)
        .resolveNs('.')
        .then(
          () => true,
          ({ code }: NodeJS.ErrnoException) => code !== 'ETIMEOUT' && code !== 'ECONNREFUSED',
        ),
    ),
  );
  return servers.filter((_, index) => !states[index]);
}

async function find(name: string, server: string): Promise<NonNullable<DnsFacts['clusterName']>> {
  try {
    const [address] = await asking(server, clusterTimeoutMs).resolve4(name);
    return address === undefined ? { name, problem: 'it has no address' } : { name, address };
  } catch (error) {
    return { name, problem: errorMessage(error) };
  }
}
