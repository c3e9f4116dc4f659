/** Wires the rooms `environment` and `names`: environment variables and name resolution of containers. */
import { KnownServices } from '../environment/known-services.ts';
import { PodCertificates } from '../environment/pod-certificates.ts';
import { PodSources } from '../environment/pod-sources.ts';
import { NameFiles } from '../names/name-files.ts';
import type { Shared } from './shared.ts';

export type EnvironmentRoom = ReturnType<typeof wireEnvironment>;

/** A change of the sources is not passed on before `wirePods` has subscribed to them. */
export function wireEnvironment(shared: Shared) {
  const { client, clock, random, log, dataDir, services: informer, events, nodeName, nodeState } = shared;
  const knownServices = new KnownServices({ informer, dataDir, clock, log });
  const sources = new PodSources({ client, clock, random, log });
  const certificates = new PodCertificates({
    ...{ client, clock, random, log, events, nodeName },
    node: () => nodeState.node,
  });
  return { knownServices, sources, certificates };
}

export type NamesRoom = ReturnType<typeof wireNames>;

export function wireNames({ clusterDNS, clusterDomain, resolvConf }: Shared) {
  const names = new NameFiles({
    clusterDNS,
    clusterDomain: clusterDomain ?? 'cluster.local',
    resolvConf: resolvConf ?? '/etc/resolv.conf',
    hosts: '/etc/hosts',
  });
  return { names };
}
