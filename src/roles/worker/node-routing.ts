/** The routing of Dns objects on a node, from its settings. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { Informer, InformerFactory } from '../../client/informer.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { dockerClient } from '../../docker/client.ts';
import { createDnsRouting, type DnsRouting } from '../../features/host-names/agent/dns-routing.ts';
import { dockerEngine } from '../../features/host-names/agent/engine.ts';
import { writeHostsBlock } from '../../features/host-names/agent/hosts-file.ts';
import { Nginx } from '../../features/host-names/agent/nginx.ts';
import type { DnsServed } from '../../features/host-names/api/dns-served.ts';
import { portProblem } from '../preflight.ts';
import type { ProcessContext } from '../process-context.ts';
import type { Settings } from '../settings/setting-table.ts';

type RoutingSettings = Settings<
  'data-dir' | 'docker-socket' | 'nginx-image' | 'write-etc-hosts' | 'cluster-domain'
>;

interface RoutingNode {
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
  { clock, log }: ProcessContext,
  settings: RoutingSettings,
  { nodeName, nodeIP, informers, services, events, onState }: RoutingNode,
): DnsRouting {
  const dataDir = settings['data-dir'];
  const nginx = new Nginx({
    engine: dockerEngine(dockerClient(settings['docker-socket'])),
    clock,
    container: containerOf(dataDir),
    image: settings['nginx-image'],
    directory: join(dataDir, 'kubelet/routing'),
    port: httpPort,
    requireFreePort: async (port) => {
      const why = await portProblem('TCP', '0.0.0.0', port);
      if (why)
        throw new Error(`port ${port} of this node ${why}; free it: hosts of Dns objects are served on it`);
    },
  });
  return createDnsRouting({
    informers,
    services,
    events,
    clock,
    log: log.named('routing'),
    nginx,
    hosts: { path: hostsFile, owner: dataDir, address: nodeIP },
    writesHosts: settings['write-etc-hosts'] === 'true',
    nodeName,
    onState,
    clusterDomain: settings['cluster-domain'],
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
