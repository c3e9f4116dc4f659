/** Writes of the scheduler: bindings, the status of unschedulable pods, nominations and evictions. */

import type { Node } from '../api/core/v1/node/node.ts';
import { podCondition } from '../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../api/core/v1/pod/pod.ts';
import { transitionTime } from '../apimachinery/conditions.ts';
import { rfc3339 } from '../base/time.ts';
import type { ResourceClient } from '../client/client.ts';
import type { ControllerContext } from '../controller-runtime/definition.ts';
import { ifPresent } from '../controller-runtime/if-present.ts';
import { type Explanation, reportAnnotation } from './explain.ts';
import type { BindRequest } from './framework.ts';
import { preemptedReason } from './plugins/default-preemption.ts';

export class PodWrites {
  readonly #pods: ResourceClient<Pod>;
  readonly #clock: ControllerContext['clock'];
  readonly #events: ControllerContext['events'];

  constructor({ client, clock, events }: ControllerContext) {
    this.#pods = client.resource(podResource);
    this.#clock = clock;
    this.#events = events;
  }

  async bind(pod: Pod, { subresource, body }: BindRequest, node: Node): Promise<void> {
    const { name, namespace = '' } = pod.metadata;
    await this.#pods.createSubresource(name, namespace, subresource, body);
    const where = node.metadata.name;
    this.#events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${where}`);
    if (pod.metadata.annotations?.[reportAnnotation])
      await this.#patchStatus(pod, { annotations: { [reportAnnotation]: null } }, {});
  }

  /**
   * Writes once why the pod is unschedulable, and its nominated node. Writes nothing if the status is already
   * correct.
   */
  async writeReason(pod: Pod, { message, report }: Explanation, nominated = ''): Promise<void> {
    const condition = podCondition(pod, 'PodScheduled');
    const { annotations } = pod.metadata;
    const isWritten = condition?.status === 'False' && condition.message === message;
    if (
      isWritten &&
      condition.reason === 'Unschedulable' &&
      annotations?.[reportAnnotation] === report &&
      (pod.status?.nominatedNodeName ?? '') === nominated
    )
      return;
    const lastTransitionTime = transitionTime(condition, 'False', rfc3339(this.#clock.now()));
    const next = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime,
    };
    await this.#patchStatus(
      pod,
      { annotations: { [reportAnnotation]: report } },
      { conditions: [next], nominatedNodeName: nominated || null },
    );
  }

  /** Removes the pod's nomination. */
  unnominate(pod: Pod): Promise<void> {
    return this.#patchStatus(pod, {}, { nominatedNodeName: null });
  }

  /** Evicts a pod for another one. Its condition is written first. */
  async evict(victim: Pod, preemptor: Pod, node: string): Promise<void> {
    const { name, namespace = '', uid, deletionTimestamp } = victim.metadata;
    if (deletionTimestamp) return;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: preemptedReason,
      message: `${preemptor.spec.schedulerName}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: rfc3339(this.#clock.now()),
    };
    await this.#patchStatus(victim, {}, { conditions: [condition] });
    await ifPresent(this.#pods.delete(name, namespace, { preconditions: { uid } }));
    const message = `Preempted by pod ${preemptor.metadata.uid} on node ${node}`;
    this.#events.event(victim, 'Normal', 'Preempted', message);
  }

  /** Patches the status. A pod that was deleted or replaced is ignored. */
  async #patchStatus(pod: Pod, metadata: object, status: object): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    const body = { metadata: { ...metadata, uid }, status };
    await ifPresent(this.#pods.patch(name, namespace, 'strategic', body, 'status'));
  }
}
