/** Wires the rooms `environment` and `names`: environment variables and name resolution of containers. */
import { KnownServices } from '../environment/known-services.ts';
import { PodSources } from '../environment/pod-sources.ts';
import { NameFiles } from '../names/name-files.ts';
import type { Shared } from './shared.ts';

export type EnvironmentRoom = ReturnType<typeof wireEnvironment>;

/** A change of the sources is not passed on before `wirePods` has subscribed to them. */
export function wireEnvironment({ client, clock, random, log, dataDir, services: informer }: Shared) {
  const knownServices = new KnownServices({ informer, dataDir, clock, log });
  const sources = new PodSources({ client, clock, random, log });
  return { knownServices, sources };
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
