/**
 * Rejects a new range of Services that contains addresses of nodes or of pods: every node would reject
 * connections to them. Upstream accepts such ranges.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { cidrsOf, type ServiceCIDR, serviceCIDRResource } from '../../api/networking/v1/service-cidr.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { rangesMeet } from '../../base/address-families.ts';
import { type AddressLimits, limitsOfCIDR } from '../../base/addresses.ts';
import type { KubeContext } from '../context.ts';

type Parts = Pick<KubeContext, 'cache' | 'clusterCIDR'>;

interface Reserved {
  readonly limits: AddressLimits;
  readonly what: string;
}

export const newServiceRanges = (server: Parts): AdmissionPlugin => ({
  name: 'ServiceRanges',
  validate({ definition, name, object, old, subresource }) {
    const { group, plural } = serviceCIDRResource;
    if (definition.group !== group || definition.plural !== plural || subresource !== '' || !object) return;
    const before = new Set(old ? cidrsOf(old as ServiceCIDR) : []);
    const reserved = reservedBy(server);
    const causes = cidrsOf(object as ServiceCIDR).flatMap((cidr, index): StatusCause[] => {
      const limits = before.has(cidr) ? undefined : limitsOfCIDR(cidr);
      const clash = limits && reserved.find((one) => rangesMeet(one.limits, limits));
      return clash ? [invalidCause(`spec.cidrs[${index}]`, cidr, `contains ${clash.what}`)] : [];
    });
    if (causes.length > 0) throw newInvalid(serviceCIDRResource, name, causes);
  },
});

function reservedBy({ cache, clusterCIDR }: Parts): readonly Reserved[] {
  const nodes = cache.list(storagePrefix(nodeResource)).map(({ object }) => object as Node);
  const written = [
    ...clusterCIDR.split(',').map((range) => ({ range, what: `addresses of the range of pods, ${range}` })),
    ...nodes.flatMap(({ metadata, spec, status }) => [
      ...(spec.podCIDRs ?? []).map((range) => ({ range, what: `pods of node ${metadata.name}, ${range}` })),
      ...(status?.addresses ?? [])
        .filter(({ type }) => type.endsWith('IP'))
        .map(({ address }) => ({
          range: `${address}/${address.includes(':') ? 128 : 32}`,
          what: `the address ${address} of node ${metadata.name}`,
        })),
    ]),
  ];
  return written.flatMap(({ range, what }) => {
    const limits = limitsOfCIDR(range);
    return limits ? [{ limits, what }] : [];
  });
}
