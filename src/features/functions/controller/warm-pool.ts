/**
 * Maintains waiting instances of each runtime in each namespace that has functions of it. Keys are
 * NAMESPACE/RUNTIME.
 */
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, read } from '../../../api/rbac/v1/rule-rows.ts';
import {
  type Draft,
  isTerminating,
  type KubeObject,
  type ObjectKey,
  splitKey,
} from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { sha256 } from '../../../base/sha256.ts';
import type { Client } from '../../../client/client.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { type Fn, functionResource } from '../api/function.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import { warmLabel, warmVersion } from '../api/warm-instance.ts';
import { waitingInstance } from './instance-plan.ts';
import type { RuntimeImages } from './version-plan.ts';
import { planPool, roomyNodes } from './warm-pool-plan.ts';

export const warmPoolRights: AccountRights = {
  own: [
    [read, 'minik8s.io', 'functions'],
    ['get list watch', 'minik8s.io', 'functionversions'],
    ['get list watch create patch delete', 'core', 'pods'],
    [read, 'core', 'nodes'],
  ],
};

export const warmPoolController =
  (runtimeImages: RuntimeImages, size: number): ControllerFactory =>
  (context) =>
    define(runtimeImages, size, context);

const keyOf = (namespace: string | undefined, runtime: string): ObjectKey => `${namespace}/${runtime}`;

function define(images: RuntimeImages, size: number, context: ControllerContext): ControllerDefinition {
  const pool = new WarmPools(images, size, context);
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
      watched(nodeResource, () => pool.nodeKeys()),
    ],
    reconcile: (key) => pool.reconcile(key),
  };
}

class WarmPools {
  readonly #images: RuntimeImages;
  /** Number of waiting instances of each runtime in each namespace. */
  readonly #size: number;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #functions: Lister<Fn>;
  readonly #versions: Lister<FunctionVersion>;
  readonly #nodes: Lister<Node>;
  readonly #pods: Lister<Pod>;
  readonly #writes: ObservedWrites<Pod>;
  /** Names of the nodes that were large enough at the last change of a node. */
  #roomy = '';

  constructor(images: RuntimeImages, size: number, { client, clock, informers }: ControllerContext) {
    const pods = informers.informerFor(podResource);
    this.#images = images;
    this.#size = size;
    this.#client = client;
    this.#clock = clock;
    this.#functions = informers.informerFor(functionResource).lister;
    this.#versions = informers.informerFor(functionVersionResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#pods = pods.lister;
    this.#writes = new ObservedWrites(client, podResource, pods);
  }

  /**
   * Returns the keys to reconcile if the set of large enough nodes changed. Nodes are written every few
   * seconds; other changes are ignored.
   */
  nodeKeys(): readonly ObjectKey[] {
    const now = roomyNodes(this.#nodes.list()).join();
    if (now === this.#roomy) return [];
    this.#roomy = now;
    const keys = this.#functions
      .list()
      .flatMap(({ metadata, spec }) => (spec.runtime ? [keyOf(metadata.namespace, spec.runtime)] : []));
    return [...new Set(keys)];
  }

  async reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { namespace, name } = splitKey(key);
    if (!(await this.#writes.settled(key, this.#clock.now()))) return { requeueAfter: verifyAfter };
    const runtime = name as keyof RuntimeImages;
    const isOfRuntime = ({ metadata }: KubeObject) => metadata.labels?.[warmLabel] === runtime;
    const places = roomyNodes(this.#nodes.list());
    const draft = this.#isWanted(namespace, runtime, places)
      ? warmVersion(namespace, runtime, this.#images[runtime], sha256)
      : undefined;
    const own = this.#versions.list(namespace).filter(isOfRuntime);
    const plan = planPool({
      size: this.#size,
      pods: this.#pods.list(namespace).filter(isOfRuntime),
      version: draft?.metadata.name,
      now: this.#clock.now(),
    });
    for (const pod of plan.remove) await this.#remove(key, pod);
    const isCurrent = ({ metadata }: FunctionVersion) => metadata.name === draft?.metadata.name;
    for (const version of own) if (!isCurrent(version)) await this.#removeVersion(version);
    if (!draft) return undefined;
    const version = own.find(isCurrent) ?? (await this.#made(draft));
    for (let i = 0; i < plan.create; i++) await this.#create(key, waitingInstance(version, places));
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  /** Returns true if a node is large enough and the namespace has a function of the runtime. */
  #isWanted(namespace: string, runtime: keyof RuntimeImages, places: readonly string[]): boolean {
    return (
      places.length > 0 &&
      this.#functions.list(namespace).some((fn) => fn.spec.runtime === runtime && !isTerminating(fn))
    );
  }

  async #create(key: ObjectKey, draft: Draft<Pod>): Promise<void> {
    const pod = await this.#client.resource(podResource).create(draft);
    this.#writes.written(key, pod, this.#clock.now());
  }

  async #remove(key: ObjectKey, pod: Pod): Promise<void> {
    const { name, namespace, uid, resourceVersion } = pod.metadata;
    // The precondition protects a pod that was assigned to a function in the meantime.
    const preconditions = { uid, resourceVersion };
    await ifPresent(this.#client.resource(podResource).delete(name, namespace, { preconditions }));
    this.#writes.removed(key, pod, this.#clock.now());
  }

  async #removeVersion({ metadata: { name, namespace } }: FunctionVersion): Promise<void> {
    await ifPresent(this.#client.resource(functionVersionResource).delete(name, namespace));
  }

  /** Creates the version, or returns the existing one that the cache does not show yet. */
  async #made(draft: ReturnType<typeof warmVersion>): Promise<FunctionVersion> {
    const { name = '', namespace = '' } = draft.metadata;
    const versions = this.#client.resource(functionVersionResource);
    try {
      return await versions.create(draft);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return versions.get(name, namespace);
    }
  }
}
