/**
 * The start of a pod as a span of the trace in which the pod was written: from when the node agent first sees
 * the pod until it is Ready, with each sync that did something and its parts.
 */

import { isTerminalPhase, podReady } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import { traceNoteOf } from '../../apimachinery/trace-note.ts';
import type { Clock } from '../../base/clock.ts';
import { apart, during } from '../../base/tracing/current-span.ts';
import type { Span, Tracer } from '../../base/tracing/span.ts';

/** Milliseconds after which a pod that is not Ready is no longer followed. */
const maxStart = 10 * 60_000;

export class PodStartTrace {
  readonly #tracer: Tracer;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #span: Span | undefined;
  #until = 0;
  #isOver = false;

  constructor(tracer: Tracer, clock: Pick<Clock, 'monotonic'>) {
    this.#tracer = tracer;
    this.#clock = clock;
  }

  /** Must be called for each version of the pod. A pod that is Ready when it is first seen is not traced. */
  see(pod: Pod): void {
    if (this.#span || this.#isOver) return;
    const isStarting =
      !podReady(pod) && !isTerminalPhase(pod.status?.phase) && !pod.metadata.deletionTimestamp;
    const parent = isStarting ? this.#tracer.follow(traceNoteOf(pod)) : undefined;
    if (!parent) {
      this.#isOver = true;
      return;
    }
    this.#until = this.#clock.monotonic() + maxStart;
    const { uid, name, namespace } = pod.metadata;
    const attributes = { 'k8s.pod.uid': uid, 'k8s.pod.name': name, 'k8s.namespace.name': namespace };
    this.#span = this.#tracer.start('kubelet', 'start pod', parent, { attributes });
  }

  /** Must be called each time that the pod's status has been computed. */
  judge(status: PodStatus): void {
    if (podReady({ status })) this.end();
    else if (isTerminalPhase(status.phase))
      this.end(status.phase === 'Failed' ? 'the pod failed' : undefined);
    else if (this.#span && this.#clock.monotonic() > this.#until) this.end('not Ready in time');
  }

  /** Runs one step of the pod's worker within the span; `kind` is upstream's name of it. */
  sync<T>(kind: string, work: () => Promise<T>): Promise<T> {
    // The worker may have been woken from within another pod's start.
    if (!this.#span) return apart(work);
    const attributes = { 'k8s.pod.update_type': kind };
    return during(this.#span.child('syncPod', { isTentative: true, attributes }), work);
  }

  end(why?: string): void {
    this.#isOver = true;
    if (why !== undefined) this.#span?.fail(why);
    this.#span?.end();
    this.#span = undefined;
  }
}
