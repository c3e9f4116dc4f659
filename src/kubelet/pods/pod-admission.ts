/** The decisions of this node whether it accepts a new pod, and whether it grants a pod's resize. */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { amounts } from '../../api/core/v1/pod/requests.ts';
import type { DeviceManager } from '../devices/device-manager.ts';
import type { LocalPods } from './local-pods.ts';
import type { PendingResize, PodEnd } from './plan/actions.ts';
import { placeRefusal } from './plan/admit-place.ts';
import { refusal, refusalOf } from './plan/admit-pod.ts';
import { type NodeSecurity, securityRefusal } from './plan/admit-security.ts';
import { resizeProblem } from './plan/allocation.ts';

export interface PodAdmissionOptions {
  /** This node's Node as it was last seen, and the reason of its shutdown if it shuts down. */
  readonly nodeState: { readonly node: Node | undefined; readonly shutdownReason: string | undefined };
  /** The node's allocatable resources without its devices. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly devices: Pick<DeviceManager, 'allocatable'>;
  readonly security: NodeSecurity;
  readonly localPods: Pick<LocalPods, 'allocated'>;
}

export class PodAdmission {
  readonly #options: PodAdmissionOptions;

  constructor(options: PodAdmissionOptions) {
    this.#options = options;
  }

  /**
   * Returns why a pod that is new on this node is rejected, given the pods that are here; undefined when it
   * is accepted.
   */
  refuse(pod: Pod, others: readonly Pod[]): PodEnd | undefined {
    const { nodeState, allocatable, devices, security } = this.#options;
    if (nodeState.shutdownReason !== undefined) return refusal('NodeShutdown', 'the node is shutting down');
    return (
      placeRefusal(pod, nodeState.node) ??
      securityRefusal(pod, security) ??
      refusalOf(pod, others, amounts({ ...allocatable, ...devices.allocatable() }))
    );
  }

  /** Returns the reason why this node cannot grant a pod's resize now; undefined when it can. */
  resizeProblem(pod: Pod): PendingResize | undefined {
    const { localPods, allocatable } = this.#options;
    return resizeProblem(pod, localPods.allocated(), amounts(allocatable));
  }
}
