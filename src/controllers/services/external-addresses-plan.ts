/** Plans the condition of a Service about external addresses that nodes do not serve for it. Pure. */
import {
  externalAddresses,
  externalPort,
  isDelivered,
} from '../../api/core/v1/service/external-addresses.ts';
import type { ExternalPorts } from '../../api/core/v1/service/external-ports.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import { findCondition, timedCondition, withoutCondition } from '../../apimachinery/conditions.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { objectKey } from '../../apimachinery/meta.ts';
import type { Condition } from '../../apimachinery/schema.ts';

/** Condition type. False if nodes do not serve an external address of the Service; absent otherwise. */
export const externalAddressesServed = 'minik8s.io/ExternalAddressesServed';

const maxNamed = 5;

interface Problem {
  readonly reason: 'AddressReserved' | 'AddressTaken';
  readonly message: string;
}

export interface ExternalStatusPlan {
  readonly conditions: readonly Condition[];
  readonly changed: boolean;
  /** New or changed problem to report as an event. */
  readonly problem: Problem | undefined;
}

/** Plans the conditions. `now` is in RFC 3339. */
export function planExternalStatus(
  service: Service,
  ports: Pick<ExternalPorts, 'reservedAs' | 'holder'>,
  now: string,
): ExternalStatusPlan {
  const conditions: readonly Condition[] = service.status?.conditions ?? [];
  const problems = isDelivered(service) ? problemsOf(service, ports) : [];
  const others = withoutCondition(conditions, externalAddressesServed);
  const [first] = problems;
  if (!first) return { conditions: others, changed: others.length < conditions.length, problem: undefined };
  const named = problems.slice(0, maxNamed).map(({ message }) => message);
  const rest = problems.length > maxNamed ? '; …' : '';
  const problem: Problem = {
    reason: first.reason,
    message: `nodes do not serve every external address: ${named.join('; ')}${rest}`,
  };
  const condition = timedCondition(
    conditions,
    { type: externalAddressesServed, status: 'False', ...problem },
    now,
  );
  const next = [...others, condition];
  const isNew = findCondition(conditions, externalAddressesServed)?.message !== problem.message;
  return { conditions: next, changed: !deepEqual(next, conditions), problem: isNew ? problem : undefined };
}

function problemsOf(service: Service, ports: Pick<ExternalPorts, 'reservedAs' | 'holder'>): Problem[] {
  return externalAddresses(service).flatMap((address): Problem[] => {
    const whose = ports.reservedAs(address);
    if (whose !== undefined) return [{ reason: 'AddressReserved', message: `${address} is ${whose}` }];
    return (service.spec.ports ?? []).flatMap((port): Problem[] => {
      const holder = ports.holder(externalPort(address, port));
      if (holder === undefined || holder === objectKey(service)) return [];
      const [namespace] = holder.split('/');
      const message = `port ${port.port} (${port.protocol}) of ${address} belongs to an older Service of the namespace ${namespace}`;
      return [{ reason: 'AddressTaken', message }];
    });
  });
}
