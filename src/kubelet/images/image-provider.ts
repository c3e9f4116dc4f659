/** Provides images that come from no registry; each provider takes the images of its own names. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { RuntimeImage } from '../runtime/runtime.ts';

export interface ImageProvider {
  /**
   * Returns true when images of that name belong to this provider; such images are not requested from any
   * registry.
   */
  takes(image: string): boolean;
  /**
   * Resolves with the image, for a container of the pod. Throws ImageError; rejects with the signal's reason
   * when that aborts.
   */
  ensure(pod: Pod, image: string, signal: AbortSignal): Promise<RuntimeImage>;
  /**
   * Checks an image that a container refers to by its id or by a name outside of this provider. Throws
   * ImageError if `found` is an image of this provider, which may only be used by its name.
   */
  checkOther?(found: RuntimeImage): void;
  /** Ends work in progress; must be called after the signals of all callers have aborted. */
  close(): Promise<void>;
}
