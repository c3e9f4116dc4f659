/**
 * The answer of a node to `minik8s doctor`: its own findings, and which other nodes it reaches. The request
 * has no parameter: the agent connects only to the addresses of Nodes, so no client can use it to scan ports.
 */

import { nodeResource } from '../../api/core/v1/node/node.ts';
import type { Client } from '../../client/client.ts';
import { readFacts } from '../../doctor/facts/read-facts.ts';
import type { Sources } from '../../doctor/facts/sources.ts';
import { machineFindings } from '../../doctor/machine.ts';
import type { NodeAnswer } from '../../doctor/node-answer.ts';
import { tryPeers } from '../../doctor/peers.ts';
import { peersOf } from '../../doctor/peers-plan.ts';
import type { Situation } from '../../doctor/situation.ts';
import { packageManagerOf } from '../../installation/machine-facts.ts';
import { serviceCommand } from '../../installation/plan/service-manager.ts';
import { serviceHere } from '../../installation/services.ts';
import { podDns } from './node-dns.ts';
import { type ServingParts, servedHere } from './served-here.ts';
import { webPortsOf } from './web-ports.ts';
import type { WorkerOptions } from './worker-options.ts';

/** Returns the function that answers; requests at the same time get the same answer. */
export function nodeDoctor(
  options: WorkerOptions,
  client: Client,
  parts: ServingParts,
): () => Promise<NodeAnswer> {
  let running: Promise<NodeAnswer> | undefined;
  return () => {
    running ??= answer(options, client, parts).finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function answer(options: WorkerOptions, client: Client, parts: ServingParts): Promise<NodeAnswer> {
  const { settings, clock, exec, nodeName } = options;
  const situation = await situationOf(options);
  const { resolvConf } = podDns(settings);
  const nodes = client.resource(nodeResource).list();
  const served = async () => servedHere(exec, parts, (await nodes).items);
  const sources: Sources = { exec, clock, situation, resolvConf, measuresDisk: false, served };
  const [facts, { items }] = await Promise.all([readFacts(sources), nodes]);
  const links = facts.links && 'value' in facts.links ? facts.links.value : undefined;
  const reached = await tryPeers(clock, peersOf(items, nodeName), links?.overlay?.mtu);
  return {
    findings: machineFindings(facts, situation),
    peers: reached,
    drops: facts.firewall && 'value' in facts.firewall ? facts.firewall.value.drops : [],
    ...(links?.underlay && { underlay: links.underlay }),
    time: clock.now(),
  };
}

async function situationOf({ settings, clock, exec, nodeIP }: WorkerOptions): Promise<Situation> {
  const packageManager = await packageManagerOf(exec);
  return {
    ...{ hasMaster: false, hasNode: true, pid: process.pid, nodeIP, now: clock.now() },
    ...(packageManager && { packageManager }),
    dataDir: settings['data-dir'],
    dockerSocket: settings['docker-socket'],
    // The ports of a master are examined on the master.
    ...{ port: 0, bindAddress: '0.0.0.0' },
    kubeletPort: settings['kubelet-port'],
    clusterCIDR: settings['cluster-cidr'],
    serviceCIDR: settings['service-cidr'],
    clusterDNS: podDns(settings).clusterDNS,
    clusterDomain: settings['cluster-domain'],
    overlay: settings.overlay,
    webPorts: webPortsOf(settings),
    restart: serviceCommand(serviceHere(), 'restart'),
  };
}
