/**
 * Facts that the container engine reported about itself when the agent last connected to it. The object is
 * created before every part that reads it; EngineConnection is its only writer.
 */
import type { RuntimeHandler, RuntimeVersion } from './runtime.ts';

export class EngineState {
  #reported: RuntimeVersion | undefined;

  /** Records the answer of the engine; must be called at each connection, before a pod is worked on. */
  report(reported: RuntimeVersion): void {
    this.#reported = reported;
  }

  /** Version in the form of a Node's `containerRuntimeVersion`; empty until the engine has answered. */
  get runtimeVersion(): string {
    return this.#reported ? `docker://${this.#reported.version}` : '';
  }

  /** Directory of the engine's images and containers; undefined until the engine has reported it. */
  get directory(): string | undefined {
    return this.#reported?.directory;
  }

  get canMountImages(): boolean {
    return this.#reported?.canMountImages ?? false;
  }

  /** The engine's OCI runtimes; the default one has the empty name. */
  get handlers(): readonly RuntimeHandler[] {
    return this.#reported?.handlers ?? [];
  }

  hasRuntime(name: string): boolean {
    return this.handlers.some((one) => one.name === name);
  }

  /** True when the default runtime supports recursive read-only mounts. */
  get canMountRecursiveReadOnly(): boolean {
    return this.handlers.some((one) => one.name === '' && one.recursiveReadOnlyMounts);
  }
}
