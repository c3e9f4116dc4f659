/** The routing of Dns objects on a node, from its settings. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Informer, InformerFactory } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { dockerClient } from '../../../docker/client.ts';
import type { DnsServed } from '../api/dns-served.ts';
import type { HostNameFlags } from '../api/settings.ts';
import { createDnsRouting, type DnsRouting } from './dns-routing.ts';
import { dockerEngine } from './engine.ts';
import { writeHostsBlock } from './hosts-file.ts';
import { Nginx } from './nginx.ts';

interface RoutingNode {
  readonly clock: Clock;
  readonly log: Logger;
  /** Directory of all state of minik8s on this machine. */
  readonly dataDir: string;
  readonly dockerSocket: string;
  readonly clusterDomain: string;
  /** Resolves to why a TCP port of this machine cannot be listened on; undefined if it can. */
  readonly portProblem: (port: number) => Promise<string | undefined>;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Informers that are not started yet. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly onState: (state: DnsServed) => void;
}

const httpPort = 80;
const hostsFile = '/etc/hosts';

/** The name includes a hash, since two clusters may share a Docker engine. */
const containerOf = (dataDir: string) =>
  `minik8s-routing-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`;

export function createNodeRouting(
  settings: Pick<HostNameFlags, 'nginx-image' | 'write-etc-hosts'>,
  { dataDir, dockerSocket, nodeIP, portProblem, ...node }: RoutingNode,
): DnsRouting {
  const nginx = new Nginx({
    engine: dockerEngine(dockerClient(dockerSocket)),
    clock: node.clock,
    container: containerOf(dataDir),
    image: settings['nginx-image'],
    directory: join(dataDir, 'kubelet/routing'),
    port: httpPort,
    requireFreePort: async (port) => {
      const why = await portProblem(port);
      if (why)
        throw new Error(`port ${port} of this node ${why}; free it: hosts of Dns objects are served on it`);
    },
  });
  return createDnsRouting({
    ...node,
    log: node.log.named('routing'),
    nginx,
    hosts: { path: hostsFile, owner: dataDir, address: nodeIP },
    writesHosts: settings['write-etc-hosts'] === 'true',
  });
}

/**
 * Removes everything that the routing of a node created, in any run; does nothing if there is nothing to
 * remove.
 */
export async function removeNodeRouting(dataDir: string, dockerSocket: string): Promise<void> {
  await dockerEngine(dockerClient(dockerSocket)).remove(containerOf(dataDir));
  await writeHostsBlock({ path: hostsFile, owner: dataDir, address: '' }, []);
}
