/** Warnings for the author of an accepted Service (upstream: pkg/api/service/warnings.go). Pure. */
import { canonicalAddress } from '../../../../base/addresses.ts';
import type { Service } from '../types.gen.ts';

const oldHints = 'service.kubernetes.io/topology-aware-hints';
const newHints = 'service.kubernetes.io/topology-mode';

export function serviceWarnings({ metadata, spec }: Service): string[] {
  const { type, clusterIPs = [], externalIPs = [], loadBalancerIP, loadBalancerSourceRanges = [] } = spec;
  const ranges = loadBalancerSourceRanges.map((text, index) =>
    rangeWarnings(text, `spec.loadBalancerSourceRanges[${index}]`),
  );
  return [
    ...(metadata.annotations?.[oldHints] === undefined
      ? []
      : [`annotation ${oldHints} is deprecated, please use ${newHints} instead`]),
    ...clusterIPs.flatMap((text, index) => addressWarnings(text, `spec.clusterIPs[${index}]`)),
    ...externalIPs.flatMap((text, index) => addressWarnings(text, `spec.externalIPs[${index}]`)),
    ...(loadBalancerIP ? addressWarnings(loadBalancerIP, 'spec.loadBalancerIP') : []),
    ...ranges.flat(),
    ...(type === 'ExternalName' && externalIPs.length > 0
      ? ['spec.externalIPs is ignored when spec.type is "ExternalName"']
      : []),
    ...(type !== 'ExternalName' && spec.externalName
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
  ];
}

const loops = 'which may cause controller apply-loops';

/** Returns a warning for an IPv6 address that is not in the form of RFC 5952. */
function addressWarnings(text: string, path: string): string[] {
  const canonical = text.includes(':') ? canonicalAddress(text) : undefined;
  return canonical === undefined || canonical === text
    ? []
    : [
        `${path}: IPv6 address ${JSON.stringify(text)} is not in RFC 5952 canonical format (${JSON.stringify(canonical)}), ${loops}`,
      ];
}

function rangeWarnings(text: string, path: string): string[] {
  const [address = '', bits = ''] = text.trim().split('/');
  const canonical = address.includes(':') ? canonicalAddress(address) : undefined;
  return canonical === undefined || canonical === address
    ? []
    : [
        `${path}: IPv6 prefix ${JSON.stringify(text)} is not in RFC 5952 canonical format (${JSON.stringify(`${canonical}/${bits}`)}), ${loops}`,
      ];
}
