/**
 * The pods that the API server assigns to this node, and the range of their addresses. Both are kept on disk,
 * so that the agent continues with them while no API server answers, also after its own restart.
 */
import { join } from 'node:path';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { podRangesOf } from '../../api/core/v1/node/pod-ranges.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { aborted } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { InformerFactory } from '../../client/informer.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import type { MirrorPods } from './mirror-pods.ts';
import type { NodeReporter } from './node-reporter.ts';
import { isMirror, isStatic } from './plan/static-pod.ts';
import type { UnknownPods } from './unknown-pods.ts';

export interface AssignedPodsOptions {
  readonly informers: InformerFactory;
  readonly workers: PodWorkers;
  readonly node: NodeReporter;
  readonly mirrors: MirrorPods;
  readonly unknownPods: UnknownPods;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly dataDir: string;
}

const checkpointMs = 200;

export class AssignedPods {
  readonly #options: AssignedPodsOptions;
  readonly #checkpointPath: string;
  readonly #podCIDRKnown = Promise.withResolvers<string>();
  #podCIDR: string | undefined;
  #saved: readonly Pod[] = [];
  #checkpointTimer: Timer | undefined;
  #checkpointing: Promise<void> = Promise.resolve();

  constructor(options: AssignedPodsOptions) {
    this.#options = options;
    this.#checkpointPath = join(options.dataDir, 'checkpoint.json');
  }

  /** The ranges from the checkpoint, or else those of the Node once they have been set (`podRangesOf`). */
  get podCIDR(): string | undefined {
    return this.#podCIDR;
  }

  /** Resolves with the range once it is known. */
  get podCIDRKnown(): Promise<string> {
    return this.#podCIDRKnown.promise;
  }

  /** Reads the checkpoint; must be called before anything else works. */
  async load(): Promise<void> {
    const saved = await readCheckpoint(this.#checkpointPath);
    this.#setPodCIDR(saved?.podCIDR);
    this.#saved = saved?.pods ?? [];
  }

  /**
   * Passes pods to the workers until the signal aborts: first the pods of the checkpoint, then, once the API
   * server has answered, the pods of the API server.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { informers, nodeName, workers, mirrors, node: agent, unknownPods } = this.#options;
    for (const pod of this.#saved) workers.update(pod);
    const pods = informers.informerFor(podResource, { fieldSelector: `spec.nodeName=${nodeName}` });
    const changed = (pod: Pod) => {
      if (isMirror(pod)) return mirrors.observeMirror(pod);
      workers.update(pod);
      this.#changed();
    };
    pods.addEventHandler({
      onAdd: changed,
      onUpdate: changed,
      onDelete: (pod) => {
        if (isMirror(pod)) return mirrors.mirrorGone(pod);
        workers.orphan(pod.metadata.uid);
        this.#changed();
      },
    });
    const nodes = informers.informerFor(nodeResource, { fieldSelector: `metadata.name=${nodeName}` });
    const observe = (node: Node) => {
      this.#setPodCIDR(podRangesOf(node));
      agent.observe(node);
      mirrors.observeNode(node);
    };
    nodes.addEventHandler({
      onAdd: observe,
      onUpdate: observe,
      onDelete: () => {
        agent.observe(undefined);
        mirrors.observeNode(undefined);
      },
    });
    try {
      await informers.start(signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    unknownPods.hasRead('api');
    mirrors.synced();
    const wanted = new Set(pods.lister.list().map(({ metadata }) => metadata.uid));
    for (const { metadata } of this.#saved) if (!wanted.has(metadata.uid)) workers.orphan(metadata.uid);
    unknownPods.end();
    this.#changed();
    await aborted(signal);
  }

  /** Writes the last checkpoint. */
  async close(): Promise<void> {
    this.#checkpointTimer?.cancel();
    await this.#checkpointing;
    await this.#checkpoint();
  }

  /** Keeps the first range: pods already have addresses from it. */
  #setPodCIDR(podCIDR: string | undefined): void {
    this.#podCIDR ??= podCIDR;
    if (this.#podCIDR !== undefined) this.#podCIDRKnown.resolve(this.#podCIDR);
  }

  #changed(): void {
    const { clock, log } = this.#options;
    this.#checkpointTimer ??= clock.after(checkpointMs, () => {
      this.#checkpointTimer = undefined;
      this.#checkpointing = this.#checkpointing
        .then(() => this.#checkpoint())
        .catch((error) => log.error('cannot write the checkpoint of pods', { error: errorMessage(error) }));
    });
  }

  async #checkpoint(): Promise<void> {
    const content = {
      podCIDR: this.#podCIDR,
      pods: this.#options.workers.pods().filter((pod) => !isStatic(pod)),
    };
    await writeCheckpoint(this.#checkpointPath, content);
  }
}
