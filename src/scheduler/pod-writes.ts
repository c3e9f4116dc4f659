/** Writes of the scheduler: bindings, the status of unschedulable pods, nominations and evictions. */
import type { Node } from '../api/core/v1/node/node.ts';
import { podCondition } from '../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../api/core/v1/pod/pod.ts';
import { rfc3339 } from '../base/time.ts';
import type { ControllerContext } from '../controller-runtime/definition.ts';
import { ifPresent } from '../controller-runtime/if-present.ts';
import { reportAnnotation, type Said } from './explain.ts';
import type { BindRequest } from './framework.ts';
import { preemptedReason } from './plugins/default-preemption.ts';

export interface PodWrites {
  bind(pod: Pod, request: BindRequest, node: Node): Promise<void>;
  /**
   * Writes once why the pod is unschedulable, and its nominated node. Writes nothing if the status is already
   * correct.
   */
  say(pod: Pod, said: Said, nominated: string | undefined): Promise<void>;
  /** Removes the pod's nomination. */
  unnominate(pod: Pod): Promise<void>;
  /** Evicts a pod for another one. Its condition is written first. */
  evict(victim: Pod, preemptor: Pod, node: string): Promise<void>;
}

export function podWrites({ client, clock, events }: ControllerContext): PodWrites {
  const pods = client.resource(podResource);

  /** Patches the status. A pod that was deleted or replaced is ignored. */
  async function patchStatus(pod: Pod, metadata: object, status: object): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    const body = { metadata: { ...metadata, uid }, status };
    await ifPresent(pods.patch(name, namespace, 'strategic', body, 'status'));
  }

  return {
    async bind(pod, { subresource, body }, node) {
      const { name, namespace = '' } = pod.metadata;
      await pods.createSubresource(name, namespace, subresource, body);
      const where = node.metadata.name;
      events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${where}`);
      if (pod.metadata.annotations?.[reportAnnotation])
        await patchStatus(pod, { annotations: { [reportAnnotation]: null } }, {});
    },

    async say(pod, { message, report }, nominated = '') {
      const condition = podCondition(pod, 'PodScheduled');
      const { annotations } = pod.metadata;
      const told = condition?.status === 'False' && condition.message === message;
      if (
        told &&
        condition.reason === 'Unschedulable' &&
        annotations?.[reportAnnotation] === report &&
        (pod.status?.nominatedNodeName ?? '') === nominated
      )
        return;
      const lastTransitionTime =
        condition?.status === 'False' && condition.lastTransitionTime
          ? condition.lastTransitionTime
          : rfc3339(clock.now());
      const next = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message,
        lastTransitionTime,
      };
      await patchStatus(
        pod,
        { annotations: { [reportAnnotation]: report } },
        { conditions: [next], nominatedNodeName: nominated || null },
      );
    },

    unnominate: (pod) => patchStatus(pod, {}, { nominatedNodeName: null }),

    async evict(victim, preemptor, node) {
      const { name, namespace = '', uid, deletionTimestamp } = victim.metadata;
      if (deletionTimestamp) return;
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: preemptedReason,
        message: `${preemptor.spec.schedulerName}: preempting to accommodate a higher priority pod`,
        lastTransitionTime: rfc3339(clock.now()),
      };
      await patchStatus(victim, {}, { conditions: [condition] });
      await ifPresent(pods.delete(name, namespace, { preconditions: { uid } }));
      events.event(
        victim,
        'Normal',
        'Preempted',
        `Preempted by pod ${preemptor.metadata.uid} on node ${node}`,
      );
    },
  };
}
