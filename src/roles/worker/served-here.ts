/** Collects, for the doctor, what the parts of a node serve. */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Current } from '../../base/current.ts';
import type {
  DeletedRules,
  HeldPort,
  Rival,
  ServedFacts,
  WebServerReport,
} from '../../doctor/checks/served.ts';
import { gatewayServedType } from '../../features/gateway/api/gateway-served.ts';
import { dnsServedType } from '../../features/host-names/api/dns-served.ts';
import { ingressServedType } from '../../features/ingress/api/ingress-served.ts';
import type { ReportedConditions } from '../../kubelet/node/plan/node-conditions.ts';
import type { Exec } from '../../os/exec.ts';

export interface ServingParts {
  readonly conditions: Current<ReportedConditions>;
  readonly heldPorts: () => readonly HeldPort[];
  readonly rivals: () => Promise<readonly Rival[]>;
  readonly deletedRules: () => readonly DeletedRules[];
}

const servedTypes = [ingressServedType, gatewayServedType, dnsServedType];

/** `nodes` are those of the cluster: an address that one of them answers for has only moved. */
export async function servedHere(
  exec: Exec,
  parts: ServingParts,
  nodes: readonly Node[],
): Promise<Omit<ServedFacts, 'listeners'>> {
  const found = await parts.rivals();
  const own = found.length === 0 ? new Set<string>() : await machinesOf(exec, nodes);
  return {
    webServer: reportsIn(parts.conditions.value),
    heldPorts: parts.heldPorts(),
    rivals: found.filter(({ machine }) => !own.has(machine)),
    deletedRules: parts.deletedRules(),
  };
}

export const reportsIn = (conditions: ReportedConditions): readonly WebServerReport[] =>
  servedTypes.flatMap((type) => {
    const condition = conditions[type];
    if (!condition) return [];
    return [{ type, isServed: condition.status === 'True', message: condition.message ?? '' }];
  });

/** Resolves to the hardware addresses of nodes with which this machine has exchanged packets. */
async function machinesOf(exec: Exec, nodes: readonly Node[]): Promise<ReadonlySet<string>> {
  const addresses = nodes.flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address));
  const { stdout } = await exec('ip', ['-json', 'neigh', 'show']);
  const known = JSON.parse(stdout || '[]') as readonly { readonly dst?: string; readonly lladdr?: string }[];
  return new Set(
    known.flatMap(({ dst = '', lladdr }) => (lladdr && addresses.includes(dst) ? [lladdr] : [])),
  );
}
