/**
 * The probes of one pod: the wanted ones run, and their results are kept as long as their container exists.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { PodProbeResults, ProbeKind, ProbeResults } from './plan/probe-results.ts';
import { decidedBefore, wantedProbes } from './plan/wanted-probes.ts';
import { type ProbeContext, ProbeLoop } from './probe-loop.ts';

export class PodProbes {
  readonly #context: ProbeContext;
  readonly #onChange: () => void;
  readonly #results = new Map<string, ProbeResults>();
  readonly #loops = new Map<string, ProbeLoop>();

  /** `onChange` is called when a result has been decided or has changed. */
  constructor(context: ProbeContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** The results; the returned map is updated later. */
  get results(): PodProbeResults {
    return this.#results;
  }

  /** Adds new containers and removes those that are gone; must be called before the results are used. */
  observe(pod: Pod, { containers }: ObservedPod): void {
    for (const container of containers) {
      if (!this.#results.has(container.id)) this.#results.set(container.id, decidedBefore(pod, container));
    }
    for (const id of this.#results.keys()) {
      if (!containers.some((container) => container.id === id)) this.#results.delete(id);
    }
  }

  /**
   * Starts and stops probes as the pod, with its newest status, requires. `isEnding` is true when the pod is
   * deleted or the node ends it.
   */
  follow(pod: Pod, observed: ObservedPod, isEnding: boolean): void {
    const wanted = new Map(
      wantedProbes(pod, observed, this.#results, isEnding).map((probe) => [probe.key, probe]),
    );
    for (const [key, loop] of this.#loops) {
      if (wanted.has(key)) continue;
      loop.stop();
      this.#loops.delete(key);
    }
    for (const [key, probe] of wanted) {
      if (this.#loops.has(key)) continue;
      const decide = (succeeded: boolean) => this.#decide(probe.containerId, probe.kind, succeeded);
      this.#loops.set(key, new ProbeLoop(this.#context, pod, probe, decide));
    }
  }

  stop(): void {
    for (const loop of this.#loops.values()) loop.stop();
    this.#loops.clear();
  }

  #decide(id: string, kind: ProbeKind, succeeded: boolean): void {
    const before = this.#results.get(id);
    if (!before || before[kind] === succeeded) return;
    this.#results.set(id, { ...before, [kind]: succeeded });
    // The first decision of these probes is final for the container.
    if (kind === 'startup' || (kind === 'liveness' && !succeeded)) this.#end(`${id}/${kind}`);
    this.#onChange();
  }

  #end(key: string): void {
    this.#loops.get(key)?.stop();
    this.#loops.delete(key);
  }
}
