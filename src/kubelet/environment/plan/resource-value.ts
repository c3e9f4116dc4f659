/**
 * The value of a container's `resourceFieldRef` (upstream: pkg/api/v1/resource,
 * ExtractContainerResourceValue).
 */
import { initContainersOf } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, ResourceFieldSelector } from '../../../api/core/v1/types.gen.ts';
import { parseQuantity } from '../../../apimachinery/quantity.ts';
import { ContainerConfigError } from './container-config-error.ts';

const shown = /^(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;
/** Resources whose limit, where a container has none, is the node's allocatable amount. */
const boundByNode: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Returns the value divided by the divisor, rounded up. Throws ContainerConfigError. */
export function resourceValue(
  pod: Pod,
  container: Container,
  { containerName, resource, divisor }: ResourceFieldSelector,
  allocatable: Readonly<Record<string, string>>,
): string {
  const of = containerName ? ownContainer(pod, containerName) : container;
  if (!of) throw new ContainerConfigError(`container ${containerName} not found`);
  if (!shown.test(resource)) throw new ContainerConfigError(`unsupported container resource : ${resource}`);
  const name = resource.slice(resource.indexOf('.') + 1);
  const isLimit = resource.startsWith('limits.');
  const { limits, requests } = of.resources;
  const own = nanoOf((isLimit ? limits : requests)?.[name]);
  const nano = isLimit && own === 0n && boundByNode.has(name) ? nanoOf(allocatable[name]) : own;
  const by = nanoOf(divisor) || nanoOf('1');
  return String((nano + by - 1n) / by);
}

const ownContainer = ({ spec }: Pod, wanted: string): Container | undefined =>
  [...spec.containers, ...initContainersOf(spec)].find(({ name }) => name === wanted);

const nanoOf = (text: string | undefined): bigint => (text === undefined ? 0n : parseQuantity(text).nano);
