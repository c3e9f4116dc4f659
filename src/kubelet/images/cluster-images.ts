/**
 * Images that the cluster holds: nodes get them from one another and from the masters, not from a registry.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { goExactDuration } from '../../base/time.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { RuntimeImage } from '../runtime/runtime.ts';

export interface HeldImage {
  readonly digest: string;
  /** Returns the image of the engine; undefined if this machine does not have it yet. */
  present(): Promise<RuntimeImage | undefined>;
  /**
   * Gets the image from another machine of the cluster and verifies it. Resolves with the source in words.
   * Rejects with the signal's reason when that aborts.
   */
  fetch(signal: AbortSignal): Promise<{ readonly image: RuntimeImage; readonly from: string }>;
}

export interface ClusterImages {
  /**
   * Resolves with the image that the cluster holds under the name; undefined if it holds none. With
   * `asksServer` an image that was loaded a moment ago is found too; rejects when the API server cannot be
   * asked.
   */
  find(pod: Pod, image: string, asksServer: boolean): Promise<HeldImage | undefined>;
  /** Returns false for the names of an image of which no master has a copy: it must stay on this machine. */
  mayRemove(names: readonly string[]): boolean;
  /** Called after an image with these names was removed from the engine. */
  removed(names: readonly string[]): void;
}

export interface FromClusterOptions {
  readonly clusterImages: ClusterImages;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/**
 * Resolves with the image that the cluster holds under the name, and reports where it came from; undefined if
 * the cluster holds none. Throws an Error if the cluster holds an image that this machine cannot get: another
 * image of the same name must not be used instead.
 */
export async function fromCluster(
  { clusterImages, events, clock }: FromClusterOptions,
  pod: Pod,
  { image, asksServer }: { readonly image: string; readonly asksServer: boolean },
  signal: AbortSignal,
): Promise<RuntimeImage | undefined> {
  const held = await clusterImages.find(pod, image, asksServer);
  if (!held) return undefined;
  const what = `image ${JSON.stringify(image)} of the cluster (${held.digest})`;
  const present = await held.present();
  if (present) {
    events.event(pod, 'Normal', 'Pulled', `Container ${what} already present on machine`);
    return present;
  }
  events.event(pod, 'Normal', 'Pulling', `Getting ${what}`);
  const began = clock.monotonic();
  try {
    const { image: got, from } = await held.fetch(signal);
    const took = goExactDuration(clock.monotonic() - began);
    const message = `Successfully got ${what} from ${from} in ${took}. Image size: ${got.sizeBytes} bytes.`;
    events.event(pod, 'Normal', 'Pulled', message);
    return got;
  } catch (error) {
    if (!signal.aborted)
      events.event(pod, 'Warning', 'Failed', `Failed to get ${what}: ${errorMessage(error)}`);
    throw error;
  }
}
