/** Containers and init containers of pods, which have nearly the same metrics under different names. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, ContainerStatus } from '../../../api/core/v1/types.gen.ts';
import type { Labels, Sample } from '../../../base/metrics/exposition.ts';
import { counters, fact, gauges, type ObjectFamily, seconds } from '../family.ts';
import { containerAmounts } from '../resource-units.ts';

interface Group {
  /** `kube_pod_container`. */
  readonly prefix: string;
  /** Name as used in the help text. */
  readonly noun: string;
  containersOf(pod: Pod): readonly Container[];
  statusesOf(pod: Pod): readonly ContainerStatus[];
  /** Returns labels that only this group has. */
  moreInfo(container: Container): Labels;
}

const containers: Group = {
  prefix: 'kube_pod_container',
  noun: 'container',
  containersOf: ({ spec }) => spec.containers,
  statusesOf: ({ status }) => status?.containerStatuses ?? [],
  moreInfo: () => ({}),
};

const initContainers: Group = {
  prefix: 'kube_pod_init_container',
  noun: 'init container',
  containersOf: ({ spec }) => spec.initContainers ?? [],
  statusesOf: ({ status }) => status?.initContainerStatuses ?? [],
  moreInfo: ({ restartPolicy }) => ({ restart_policy: restartPolicy ?? '' }),
};

type MoreLabels = (status: ContainerStatus) => Labels;

/** Returns a sample for each status, labeled with the container; undefined means no sample. */
const perStatus =
  (group: Group, numberOf: (status: ContainerStatus) => number | boolean | undefined, more?: MoreLabels) =>
  (pod: Pod) =>
    group.statusesOf(pod).flatMap((status): readonly Sample[] => {
      const value = numberOf(status);
      if (value === undefined) return [];
      return [{ labels: { container: status.name, ...more?.(status) }, value: Number(value) }];
    });

/** Returns the families of images and resources. */
function specFamilies(group: Group): readonly ObjectFamily<Pod>[] {
  const { prefix, noun } = group;
  return [
    gauges(`${prefix}_info`, `Image and ids of the ${noun}.`, (pod) =>
      group.containersOf(pod).flatMap((container) =>
        group
          .statusesOf(pod)
          .filter(({ name }) => name === container.name)
          .map(({ name, image, imageID, containerID }) =>
            fact({
              container: name,
              image_spec: container.image ?? '',
              image,
              image_id: imageID,
              container_id: containerID ?? '',
              ...group.moreInfo(container),
            }),
          ),
      ),
    ),
    ...(['limits', 'requests'] as const).map((bound) =>
      gauges(`${prefix}_resource_${bound}`, `Amounts in the ${bound} of the ${noun}.`, (pod: Pod) =>
        group.containersOf(pod).flatMap(({ name, resources }) =>
          containerAmounts(resources?.[bound]).map(({ resource, unit, value }) => ({
            labels: { container: name, node: pod.spec.nodeName ?? '', resource, unit },
            value,
          })),
        ),
      ),
    ),
  ];
}

/** Returns the families of the last start, and of the end before it. */
function startFamilies(group: Group): readonly ObjectFamily<Pod>[] {
  const { prefix, noun } = group;
  return [
    gauges(
      `${prefix}_state_started`,
      `When the ${noun} was started, in seconds since the epoch.`,
      perStatus(group, ({ state }) => seconds((state?.running ?? state?.terminated)?.startedAt)),
    ),
    gauges(
      `${prefix}_status_last_terminated_reason`,
      `Why the ${noun} ended before it was started again.`,
      perStatus(
        group,
        ({ lastState }) => lastState?.terminated && 1,
        ({ lastState }) => ({ reason: lastState?.terminated?.reason ?? '' }),
      ),
    ),
    gauges(
      `${prefix}_status_last_terminated_exitcode`,
      `The exit code of the ${noun} before it was started again.`,
      perStatus(group, ({ lastState }) => lastState?.terminated?.exitCode),
    ),
    gauges(
      `${prefix}_status_last_terminated_timestamp`,
      `When the ${noun} ended before it was started again, in seconds since the epoch.`,
      perStatus(group, ({ lastState }) => seconds(lastState?.terminated?.finishedAt)),
    ),
  ];
}

/** Returns the families of the present state. */
function stateFamilies(group: Group): readonly ObjectFamily<Pod>[] {
  const { prefix, noun } = group;
  return [
    gauges(
      `${prefix}_status_ready`,
      `Whether the ${noun} is ready.`,
      perStatus(group, ({ ready }) => ready),
    ),
    counters(
      `${prefix}_status_restarts_total`,
      `How often the ${noun} was started again.`,
      perStatus(group, ({ restartCount }) => restartCount),
    ),
    ...(['running', 'terminated', 'waiting'] as const).map((state) =>
      gauges(
        `${prefix}_status_${state}`,
        `Whether the ${noun} is ${state}.`,
        perStatus(group, (status) => status.state?.[state] !== undefined),
      ),
    ),
    ...(['terminated', 'waiting'] as const).map((state) =>
      gauges(
        `${prefix}_status_${state}_reason`,
        `Why the ${noun} is ${state}.`,
        perStatus(
          group,
          (status) => status.state?.[state] && 1,
          (status) => ({ reason: status.state?.[state]?.reason ?? '' }),
        ),
      ),
    ),
  ];
}

const familiesOf = (group: Group): readonly ObjectFamily<Pod>[] => [
  ...specFamilies(group),
  ...startFamilies(group),
  ...stateFamilies(group),
];

export const containerFamilies: readonly ObjectFamily<Pod>[] = [
  ...familiesOf(containers),
  ...familiesOf(initContainers),
];
