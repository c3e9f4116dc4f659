/** What a container's `resourceFieldRef` shows (upstream: pkg/api/v1/resource, ExtractContainerResourceValue). */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container, ResourceFieldSelector } from '../../api/core/v1/types.gen.ts';
import { parseQuantity, tryParseQuantity, zeroQuantity } from '../../apimachinery/quantity.ts';
import { ContainerConfigError } from './container-config-error.ts';

/** A container without such a limit may have all of the node. */
const boundByNode: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** How often the divisor goes into the value, rounded up. Throws ContainerConfigError. */
export function resourceValue(
  pod: Pod,
  container: Container,
  { containerName, resource, divisor = '0' }: ResourceFieldSelector,
  allocatable: Readonly<Record<string, string>>,
): string {
  const of = containerName ? pod.spec.containers.find(({ name }) => name === containerName) : container;
  if (!of) throw new ContainerConfigError(`container ${containerName} not found`);
  const [, list, name = ''] =
    /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(resource) ?? [];
  if (list === undefined) throw new ContainerConfigError(`unsupported container resource : ${resource}`);
  const written = tryParseQuantity(of.resources[list === 'limits' ? 'limits' : 'requests']?.[name] ?? '0');
  const unbound = list === 'limits' && boundByNode.has(name) && !written?.nano;
  const { nano } = unbound ? parseQuantity(allocatable[name] ?? '0') : (written ?? zeroQuantity);
  const by = parseQuantity(divisor).nano || parseQuantity('1').nano;
  return String((nano + by - 1n) / by);
}
