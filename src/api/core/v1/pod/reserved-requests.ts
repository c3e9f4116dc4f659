/**
 * The resources that a pod reserves on its node during a resize: for each resource the larger of the
 * requested and the current amount; only the current amount, if the node can never satisfy the request
 * (upstream: PodRequests with UseStatusResources). Pure.
 */
import { compareQuantities, tryParseQuantity } from '../../../../apimachinery/quantity.ts';
import { isSidecar } from '../container/init-containers.ts';
import type { Container, ContainerStatus, Pod, PodSpec } from '../types.gen.ts';

/** Returns the specification with these requests; the same object if nothing differs. */
export function reservedSpec({ spec, status }: Pick<Pod, 'spec' | 'status'>): PodSpec {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const reported = containerStatuses.filter(hasRequests);
  const before = initContainerStatuses.filter(hasRequests);
  if (reported.length === 0 && before.length === 0) return spec;
  const isRefused =
    status?.resize === 'Infeasible' ||
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ===
      true;
  const of = (container: Container, statuses: readonly ContainerStatus[]) => {
    const found = statuses.find(({ name }) => name === container.name);
    return found ? reserved(container, found, isRefused) : container;
  };
  const { initContainers } = spec;
  return {
    ...spec,
    containers: spec.containers.map((container) => of(container, reported)),
    ...(initContainers && {
      // Init containers other than sidecars are never resized.
      initContainers: initContainers.map((one) => (isSidecar(one) ? of(one, before) : one)),
    }),
  };
}

const hasRequests = ({ resources }: ContainerStatus) => resources?.requests !== undefined;

function reserved(container: Container, status: ContainerStatus, isRefused: boolean): Container {
  const wanted = container.resources?.requests ?? {};
  const has = status.resources?.requests ?? {};
  const given = status.allocatedResources ?? {};
  const requests = Object.fromEntries(
    Object.keys(wanted).map((name) => {
      const known = [has[name], given[name]];
      const counted =
        isRefused && known.some((text) => text !== undefined) ? known : [wanted[name], ...known];
      return [name, most(counted) ?? wanted[name] ?? '0'];
    }),
  );
  return { ...container, resources: { ...container.resources, requests } };
}

const most = (amounts: readonly (string | undefined)[]): string | undefined =>
  amounts.reduce((best, text) => {
    const [quantity, before] = [text, best].map((one) =>
      one === undefined ? undefined : tryParseQuantity(one),
    );
    if (!quantity) return best;
    return before && compareQuantities(before, quantity) >= 0 ? best : text;
  }, undefined);
