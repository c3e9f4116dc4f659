/**
 * Assigns waiting instances to functions. Each instance is assigned once, in one write: a second, concurrent
 * write is rejected because the version of the pod has changed.
 */
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { isConflict, isNotFound } from '../../../apimachinery/status-error.ts';
import { sha256 } from '../../../base/sha256.ts';
import { rfc3339 } from '../../../base/time.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { type Fn, functionResource } from '../api/function.ts';
import { functionLabel, functionVersionLabel } from '../api/function-instance.ts';
import type { FunctionVersion } from '../api/function-version.ts';
import { givenAtAnnotation } from '../api/warm-instance.ts';
import { fitting } from './warm-pool-plan.ts';

export class WaitingInstances {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
    context.informers.informerFor(podResource);
  }

  /** Assigns as many waiting instances as exist, at most `count`, and returns them. */
  async give(fn: Fn, version: FunctionVersion, count: number): Promise<readonly Pod[]> {
    const { informers } = this.#context;
    const pods = informers.informerFor(podResource).lister.list(fn.metadata.namespace);
    const given: Pod[] = [];
    for (const pod of fitting(pods, version, sha256)) {
      if (given.length === count) break;
      const written = await this.#give(fn, version, pod);
      if (written) given.push(written);
    }
    return given;
  }

  /** Returns the assigned pod, or undefined if another writer has changed or already assigned it. */
  async #give(fn: Fn, version: FunctionVersion, pod: Pod): Promise<Pod | undefined> {
    const { client, clock, events } = this.#context;
    const { name, namespace = '', uid, resourceVersion } = pod.metadata;
    const body = {
      metadata: {
        uid,
        resourceVersion,
        annotations: { [givenAtAnnotation]: rfc3339(clock.now()) },
        labels: { [functionLabel]: fn.metadata.name, [functionVersionLabel]: version.metadata.name },
        ownerReferences: [controllerReference(functionResource, fn)],
      },
    };
    try {
      const written = await client.resource(podResource).patch(name, namespace, 'merge', body);
      events.event(fn, 'Normal', 'Given', `Assigned waiting pod: ${name}`);
      return written;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }
}
