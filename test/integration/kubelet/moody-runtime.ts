/** A runtime that is unreachable when a test requests it. */
import { RuntimeError } from '../../../src/docker/runtime-error.ts';
import type { RuntimeVersion } from '../../../src/kubelet/runtime/runtime.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';

/** An engine that can be switched off. */
export class MoodyRuntime extends SimulatedRuntime {
  up = true;
  apiVersion = '1.41';
  canMountImages = false;
  #lost = new AbortController();

  override async version(): Promise<RuntimeVersion> {
    if (!this.up) throw new RuntimeError('Unavailable', 'Docker cannot be reached');
    const { apiVersion, canMountImages } = this;
    return { name: 'docker', version: '20.10.24', apiVersion, canMountImages };
  }

  override events(signal: AbortSignal, onReady: () => void) {
    this.#lost = new AbortController();
    return super.events(AbortSignal.any([signal, this.#lost.signal]), onReady);
  }

  goAway(): void {
    this.up = false;
    this.#lost.abort();
  }
}
