/**
 * Maintains waiting instances of each runtime in each namespace that has functions of it. Keys are
 * NAMESPACE/RUNTIME.
 */
import { nodeResource } from '../../../api/core/v1/node/node.ts';
import { podResource } from '../../../api/core/v1/pod/pod.ts';
import { isTerminating, type ObjectKey, splitKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { sha256 } from '../../../base/sha256.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { functionResource } from '../api/function.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import { warmLabel, warmVersion } from '../api/warm-instance.ts';
import { waitingInstance } from './instance-plan.ts';
import type { RuntimeImages } from './version-plan.ts';
import { planPool, roomyNodes } from './warm-pool-plan.ts';

export const warmPoolController =
  (runtimeImages: RuntimeImages, size: number): ControllerFactory =>
  (context) =>
    define(runtimeImages, size, context);

const keyOf = (namespace: string | undefined, runtime: string): ObjectKey => `${namespace}/${runtime}`;

function define(images: RuntimeImages, size: number, context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const functions = informers.informerFor(functionResource).lister;
  const versions = informers.informerFor(functionVersionResource).lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const podInformer = informers.informerFor(podResource);
  const writes = new ObservedWrites(client, podResource, podInformer);
  let roomy = '';

  /**
   * Returns the keys to reconcile if the set of large enough nodes changed. Nodes are written every few
   * seconds; other changes are ignored.
   */
  function nodeKeys(): readonly ObjectKey[] {
    const now = roomyNodes(nodes.list()).join();
    if (now === roomy) return [];
    roomy = now;
    const keys = functions
      .list()
      .flatMap(({ metadata, spec }) => (spec.runtime ? [keyOf(metadata.namespace, spec.runtime)] : []));
    return [...new Set(keys)];
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { namespace, name } = splitKey(key);
    if (!(await writes.settled(key, clock.now()))) return { requeueAfter: verifyAfter };
    const runtime = name as keyof RuntimeImages;
    const places = roomyNodes(nodes.list());
    const isWanted =
      places.length > 0 &&
      functions.list(namespace).some((fn) => fn.spec.runtime === runtime && !isTerminating(fn));
    const draft = isWanted ? warmVersion(namespace, runtime, images[runtime], sha256) : undefined;
    const own = versions.list(namespace).filter(({ metadata }) => metadata.labels?.[warmLabel] === runtime);
    const plan = planPool({
      size,
      pods: podInformer.lister
        .list(namespace)
        .filter(({ metadata }) => metadata.labels?.[warmLabel] === runtime),
      version: draft?.metadata.name,
      now: clock.now(),
    });
    for (const pod of plan.remove) {
      const { uid, resourceVersion } = pod.metadata;
      // The precondition protects a pod that was assigned to a function in the meantime.
      const preconditions = { uid, resourceVersion };
      await ifPresent(client.resource(podResource).delete(pod.metadata.name, namespace, { preconditions }));
      writes.removed(key, pod, clock.now());
    }
    for (const { metadata } of own)
      if (metadata.name !== draft?.metadata.name)
        await ifPresent(client.resource(functionVersionResource).delete(metadata.name, namespace));
    if (!draft) return undefined;
    const version = own.find(({ metadata }) => metadata.name === draft.metadata.name) ?? (await made(draft));
    for (let i = 0; i < plan.create; i++) {
      const pod = await client.resource(podResource).create(waitingInstance(version, places));
      writes.written(key, pod, clock.now());
    }
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  async function made(draft: ReturnType<typeof warmVersion>): Promise<FunctionVersion> {
    const { name = '', namespace = '' } = draft.metadata;
    try {
      return await client.resource(functionVersionResource).create(draft);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return client.resource(functionVersionResource).get(name, namespace);
    }
  }

  return {
    name: 'warm-pool',
    watches: [
      watched(functionResource, ({ metadata, spec }) =>
        spec.runtime ? [keyOf(metadata.namespace, spec.runtime)] : [],
      ),
      watched(functionVersionResource, ({ metadata }) => {
        const runtime = metadata.labels?.[warmLabel];
        return runtime === undefined ? [] : [keyOf(metadata.namespace, runtime)];
      }),
      watched(podResource, ({ metadata }) => {
        const runtime = metadata.labels?.[warmLabel];
        return runtime === undefined ? [] : [keyOf(metadata.namespace, runtime)];
      }),
      watched(nodeResource, nodeKeys),
    ],
    reconcile,
  };
}
