/** The routing of Dns objects on a node, from its settings. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Wake } from '../../../base/keep-doing.ts';
import type { Logger } from '../../../base/log.ts';
import type { Informer, InformerFactory } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import type { DnsServed } from '../api/dns-served.ts';
import type { HostNameFlags } from '../api/settings.ts';
import { createDnsRouting, type DnsRouting } from './dns-routing.ts';
import { writeHostsBlock } from './hosts-file.ts';

interface RoutingNode {
  readonly log: Logger;
  /** Directory of all state of minik8s on this machine. */
  readonly dataDir: string;
  readonly clusterDomain: string;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Informers that are not started yet. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly wake: Wake;
  readonly onState: (state: DnsServed) => void;
}

const hostsFile = '/etc/hosts';

export function createNodeRouting(
  settings: Pick<HostNameFlags, 'write-etc-hosts'>,
  { dataDir, nodeIP, ...node }: RoutingNode,
): DnsRouting {
  return createDnsRouting({
    ...node,
    log: node.log.named('routing'),
    hosts: { path: hostsFile, owner: dataDir, address: nodeIP },
    writesHosts: settings['write-etc-hosts'] === 'true',
  });
}

/** Removes the host names that the routing of a node wrote, in any run. */
export const removeHostNames = (dataDir: string): Promise<void> =>
  writeHostsBlock({ path: hostsFile, owner: dataDir, address: '' }, []);
