/** A pod's /etc/resolv.conf (pkg/kubelet/network/dns). Pure. */

import { maxNameservers, maxSearchCharacters, maxSearches } from '../../../api/core/v1/pod/dns-validation.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { parseResolvConf, type ResolvConf } from '../../../formats/resolv-conf.ts';

export interface DnsFacts {
  /** Address of the cluster's DNS; undefined when the cluster has none. */
  readonly clusterDNS: string | undefined;
  /** Domain such as `cluster.local`. */
  readonly clusterDomain: string;
  /** The machine's own resolv.conf. */
  readonly hostResolvConf: string;
}

export interface RenderedResolvConf {
  readonly text: string;
  /** Warnings about parts that were left out, for an event. */
  readonly warnings: readonly string[];
}

/**
 * Returns the policy's servers, search domains and options, together with the pod's own, all cut to the
 * limits of resolvers.
 */
export function renderResolvConf(pod: Pod, facts: DnsFacts): RenderedResolvConf {
  const { conf, warnings } = withinLimits(withPodConfig(pod, ofPolicy(pod, facts)));
  const line = (keyword: string, words: readonly string[]) =>
    words.length > 0 ? `${keyword} ${words.join(' ')}\n` : '';
  const text = [
    line('search', conf.searches),
    ...conf.nameservers.map((address) => `nameserver ${address}\n`),
    line('options', conf.options),
  ].join('');
  return { text, warnings };
}

/**
 * Returns the configuration of the pod's policy. `ClusterFirst` in the host's network means `Default`, as in
 * Kubernetes.
 */
function ofPolicy(pod: Pod, { clusterDNS, clusterDomain, hostResolvConf }: DnsFacts): ResolvConf {
  const { dnsPolicy, hostNetwork } = pod.spec;
  const usesCluster =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  if (dnsPolicy === 'None') return { nameservers: [], searches: [], options: [] };
  const host = parseResolvConf(hostResolvConf);
  if (!usesCluster || clusterDNS === undefined) return host;
  const own = [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { nameservers: [clusterDNS], searches: unique([...own, ...host.searches]), options: ['ndots:5'] };
}

function withPodConfig({ spec: { dnsConfig } }: Pod, conf: ResolvConf): ResolvConf {
  if (!dnsConfig) return conf;
  const options = new Map(conf.options.map((option) => [optionName(option), option]));
  const { nameservers = [], searches = [] } = dnsConfig;
  for (const { name, value } of dnsConfig.options ?? []) {
    if (name) options.set(name, value ? `${name}:${value}` : name);
  }
  return {
    nameservers: unique([...conf.nameservers, ...nameservers]),
    searches: unique([...conf.searches, ...searches]),
    options: [...options.values()],
  };
}

const optionName = (option: string) => option.replace(/:.*$/, '');
const unique = (words: readonly string[]) => [...new Set(words)];

function withinLimits(conf: ResolvConf): { readonly conf: ResolvConf; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const nameservers = conf.nameservers.slice(0, maxNameservers);
  if (nameservers.length < conf.nameservers.length) {
    warnings.push(
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${nameservers.join(' ')}`,
    );
  }
  const searches: string[] = [];
  for (const search of conf.searches.slice(0, maxSearches)) {
    if ([...searches, search].join(' ').length > maxSearchCharacters) break;
    searches.push(search);
  }
  if (searches.length < conf.searches.length) {
    warnings.push(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
    );
  }
  return { conf: { ...conf, nameservers, searches }, warnings };
}
