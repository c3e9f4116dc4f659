/**
 * The hooks of one pod's containers. They run beside the pod's worker, which continues to notice the pod's
 * deletion and the end of its grace period; the worker is woken when a hook has ended. A hook that was
 * running when the agent or the engine ended runs again: hooks run at least once, as in Kubernetes.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { type Clock, pause } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import { readHookMarks, removeHookMarks, writeHookMark } from './hook-marks.ts';
import { type HookKey, type HookState, hookKey, type RunHook } from './plan/hooks.ts';
import { HookError, HookLost, runHook } from './run-hook.ts';

export interface HookContext {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly nodeIP: string;
}

/** Delay before a hook is run again that was interrupted by the loss of the engine. */
const lostMs = 1_000;

const failureReasons = { postStart: 'FailedPostStartHook', preStop: 'FailedPreStopHook' } as const;

export class PodHooks {
  readonly #context: HookContext;
  readonly #directory: string;
  readonly #wake: () => void;
  readonly #states = new Map<HookKey, HookState>();
  readonly #running = new Map<HookKey, { readonly id: string; readonly stop: AbortController }>();
  #isRead = false;

  constructor(context: HookContext, podDirectory: string, wake: () => void) {
    this.#context = context;
    this.#directory = podDirectory;
    this.#wake = wake;
  }

  get states(): ReadonlyMap<HookKey, HookState> {
    return this.#states;
  }

  /**
   * Reads which hooks an earlier run of the agent has completed; must be called before the states are used.
   */
  async read(): Promise<void> {
    if (this.#isRead) return;
    const marks = await readHookMarks(this.#directory);
    for (const key of marks) this.#states.set(key as HookKey, { at: 'done' });
    this.#isRead = true;
  }

  /** Aborts the hooks of containers that no longer run. */
  follow({ containers }: ObservedPod): void {
    const running = new Set(containers.filter(({ state }) => state === 'running').map(({ id }) => id));
    for (const { id, stop } of this.#running.values()) if (!running.has(id)) stop.abort();
  }

  /**
   * Starts a hook. `pod` is undefined when it is no longer known; `podIP` is undefined in the host's network.
   */
  begin(run: RunHook, pod: Pod | undefined, podIP: string | undefined): void {
    const key = hookKey(run.id, run.hook);
    const stop = new AbortController();
    this.#running.set(key, { id: run.id, stop });
    this.#states.set(key, { at: 'running' });
    this.#run(run, pod, podIP, stop.signal).then(
      (state) => this.#end(key, state),
      (error) => {
        this.#context.log.warn('cannot note that a hook has run', { error: errorMessage(error) });
        this.#end(key, { at: 'done' });
      },
    );
  }

  async forget(id: string): Promise<void> {
    for (const key of [hookKey(id, 'postStart'), hookKey(id, 'preStop')]) this.#states.delete(key);
    await removeHookMarks(this.#directory, id);
  }

  /** Aborts the running hooks because the agent stops; its next run starts them again. */
  stop(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  /** Resolves with the hook's state. Rejects when the hook succeeded and its mark could not be written. */
  async #run(
    run: RunHook,
    pod: Pod | undefined,
    podIP: string | undefined,
    signal: AbortSignal,
  ): Promise<HookState | undefined> {
    const { runtime, clock, events, nodeIP } = this.#context;
    const onFallback = (address: string) => {
      const message = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`;
      if (pod) events.event(pod, 'Warning', 'LifecycleHTTPFallback', message);
    };
    try {
      await runHook({ runtime, clock, podIP: podIP ?? nodeIP, onFallback }, run, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof HookLost) {
        await pause(clock, lostMs, signal);
        return undefined;
      }
      // A program's output may contain secrets, and events are widely readable.
      if (pod) events.event(pod, 'Warning', failureReasons[run.hook], `${capital(run.hook)}Hook failed`);
      return { at: 'failed', message: failureText(run, pod, error) };
    }
    await writeHookMark(this.#directory, hookKey(run.id, run.hook));
    return { at: 'done' };
  }

  #end(key: HookKey, state: HookState | undefined): void {
    this.#running.delete(key);
    if (state) this.#states.set(key, state);
    else this.#states.delete(key);
    this.#wake();
  }
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

function failureText({ name }: RunHook, pod: Pod | undefined, error: unknown): string {
  if (!(error instanceof HookError)) return errorMessage(error);
  const { what, message, output } = error;
  const { metadata } = pod ?? {};
  const of = `${metadata?.name}_${metadata?.namespace}(${metadata?.uid})`;
  const printed = output === undefined ? '' : `, message: ${JSON.stringify(output)}`;
  if (message === invalid) return `${what}: ${message}`;
  return `${what} for Container ${JSON.stringify(name)} in Pod ${JSON.stringify(of)} failed - error: ${message}${printed}`;
}

const invalid = 'invalid handler';
