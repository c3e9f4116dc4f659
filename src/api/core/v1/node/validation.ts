/** Rules of nodes (upstream: ValidateNode, ValidateNodeUpdate). */

import { deepEqual } from '../../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import {
  checkLabelValue,
  checkPortNumber,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import { validateQuantity } from '../../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { checkCIDR } from '../../../ip.ts';
import type { Node, Taint } from '../types.gen.ts';
import { validateNodeAddresses } from './addresses.ts';

/** Sets podCIDR and podCIDRs from each other: podCIDR is the first of podCIDRs. */
export function setNodeDefaults({ spec }: Node): void {
  if (spec.podCIDR && !spec.podCIDRs?.length) spec.podCIDRs = [spec.podCIDR];
  if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
}

export function validateNode(node: Node): StatusCause[] {
  return [
    // Upstream names this path, although the taints are in spec.
    ...validateTaints(node.spec.taints ?? [], 'metadata.taints'),
    ...validatePodCIDRs(node, 'spec.podCIDRs'),
    ...validateNodeStatus(node),
  ];
}

/** Validates the status. A Node may be created with a status; updates of the Node do not change it. */
export const validateNodeStatus = ({ status }: Node): StatusCause[] => [
  ...validateAmounts(status?.capacity ?? {}, 'status.capacity'),
  ...validateAmounts(status?.allocatable ?? {}, 'status.allocatable'),
  ...validateNodeAddresses(status?.addresses ?? [], 'status.addresses'),
  ...validateAgentPort(status?.daemonEndpoints?.kubeletEndpoint?.Port),
];

/**
 * Validates an update. The pod range is permanent once it is set, since pods on the node have addresses in
 * it; so is the provider's identity of the machine.
 */
export function validateNodeUpdate({ spec }: Node, { spec: old }: Node): StatusCause[] {
  const causes: StatusCause[] = [];
  const ranges = old.podCIDRs ?? [];
  if (ranges.length > 0 && !deepEqual(spec.podCIDRs ?? [], ranges))
    causes.push(forbiddenCause('spec.podCIDRs', onlySetOnce('podCIDR')));
  if (old.providerID && spec.providerID !== old.providerID)
    causes.push(forbiddenCause('spec.providerID', onlySetOnce('providerID')));
  return causes;
}

const onlySetOnce = (field: string) => `node updates may not change ${field} except from "" to valid`;

/** Validates the agent's port; 0 means that the agent does not listen. */
const validateAgentPort = (port = 0): StatusCause[] =>
  port === 0
    ? []
    : checkPortNumber(port).map((why) =>
        invalidCause('status.daemonEndpoints.kubeletEndpoint.Port', port, why),
      );

function validateTaints(taints: readonly Taint[], path: string): StatusCause[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = `${path}[${index}]`;
    const identity = `${taint.key}:${taint.effect}`;
    const causes = [
      ...(taint.key ? nameCauses(`${at}.key`, taint.key, checkQualifiedName) : [requiredCause(`${at}.key`)]),
      ...nameCauses(`${at}.value`, taint.value ?? '', checkLabelValue),
      ...(seen.has(identity) ? [duplicateTaint(at, taint)] : []),
    ];
    seen.add(identity);
    return causes;
  });
}

function duplicateTaint(path: string, taint: Taint): StatusCause {
  const cause = duplicateCause(path, taint);
  return { ...cause, message: `${cause.message}: taints must be unique by key and effect pair` };
}

/** Allows one range of each family. */
function validatePodCIDRs({ spec }: Node, path: string): StatusCause[] {
  const ranges = spec.podCIDRs ?? [];
  const causes = ranges.flatMap((range, index) => nameCauses(`${path}[${index}]`, range, checkCIDR));
  const families = new Set(ranges.map((range) => range.includes(':')));
  if (causes.length === 0 && families.size < ranges.length)
    causes.push(invalidCause(path, ranges, 'may specify no more than one CIDR for each IP family'));
  if (spec.podCIDR !== ranges[0])
    causes.push(invalidCause('spec.podCIDR', spec.podCIDR, 'must be the first of spec.podCIDRs'));
  return causes;
}

function validateAmounts(amounts: Readonly<Record<string, string>>, path: string): StatusCause[] {
  return Object.entries(amounts).flatMap(([name, amount]) => validateQuantity(`${path}.${name}`, amount));
}
