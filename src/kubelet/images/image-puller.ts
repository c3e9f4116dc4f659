/**
 * Makes sure that a container's image is present, and reports it with events in upstream's words
 * (pkg/kubelet/images: image_manager).
 */
import PQueue from 'p-queue';
import { isImageName } from '../../api/core/v1/container/image-name.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { type Secret, secretResource } from '../../api/core/v1/secret.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { goExactDuration } from '../../base/time.ts';
import { withinNow } from '../../base/tracing/current-span.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ContainerRuntime, RegistryCredentials, RuntimeImage } from '../runtime/runtime.ts';
import { type ClusterImages, fromCluster } from './cluster-images.ts';
import type { ImageRecord } from './image-record.ts';
import { type ImageFailureReason, pullDecision, type WantedImage } from './plan/pull-decision.ts';
import { credentialsFor } from './plan/registry-credentials.ts';
import type { Pulls } from './pulls.ts';

export interface ImagePullerOptions {
  readonly client: Client;
  readonly runtime: Pick<ContainerRuntime, 'findImage' | 'pullImage'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  /** Records images that came to this machine for a pod. */
  readonly record: Pick<ImageRecord, 'gaveUp' | 'pulling' | 'pulled'>;
  /** Maximum number of pulls at once; others wait in a queue. */
  readonly atOnce: number;
  /** Registry of the pulls in progress. */
  readonly pulls?: Pulls;
  /**
   * Called for each successful pull with its period, which includes the waiting time, in milliseconds since
   * the epoch.
   */
  readonly onPulled?: (uid: string, period: { readonly from: number; readonly to: number }) => void;
}

/** The error of a missing image; its message is used in the container's status. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly reason: ImageFailureReason;

  constructor(reason: ImageFailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #queue: PQueue;
  /**
   * Images that the cluster holds. Set once, after the construction: the feature that provides them needs
   * this object.
   */
  clusterImages: ClusterImages | undefined;
  /** Images for volumes that are being made available, by pod and wanted image. */
  readonly #underWay = new Map<string, Promise<RuntimeImage>>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
    this.#queue = new PQueue({ concurrency: options.atOnce });
  }

  /** Resolves with the image. Throws ImageError; rejects with the signal's reason when that aborts. */
  async ensure(pod: Pod, wanted: WantedImage, signal: AbortSignal): Promise<RuntimeImage> {
    const { events } = this.#options;
    const { image } = wanted;
    const quoted = JSON.stringify(image);
    if (!isImageName(image)) {
      const message = `Failed to apply default image tag ${quoted}: couldn't parse image name: invalid reference format`;
      events.event(pod, 'Warning', 'InspectFailed', message);
      throw new ImageError('InvalidImageName', message);
    }
    const present = await this.#find(pod, image);
    const decision = pullDecision(wanted, present !== undefined);
    const held = await this.#held(pod, wanted, present !== undefined, signal);
    if (held) return held;
    if (decision === 'never') {
      const message = `Container image ${quoted} is not present with pull policy of Never`;
      events.event(pod, 'Warning', 'ErrImageNeverPull', message);
      throw new ImageError('ErrImageNeverPull', message);
    }
    if (decision === 'use' && present) {
      events.event(pod, 'Normal', 'Pulled', `Container image ${quoted} already present on machine`);
      return present;
    }
    return this.#pull(pod, image, present, signal);
  }

  /**
   * Does the same for a volume, which several containers of a pod that start together may mount: they share
   * the pull in progress. The signal must therefore be the pod's.
   */
  ensureOnce(pod: Pod, wanted: WantedImage, signal: AbortSignal): Promise<RuntimeImage> {
    const key = JSON.stringify([pod.metadata.uid, wanted.image, wanted.imagePullPolicy]);
    const underWay =
      this.#underWay.get(key) ?? this.ensure(pod, wanted, signal).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, underWay);
    return underWay;
  }

  /**
   * Returns the image that the cluster holds under the name; it takes precedence over other images of the
   * name. With the policy Always the registry is asked instead.
   */
  async #held(
    pod: Pod,
    wanted: WantedImage,
    isPresent: boolean,
    signal: AbortSignal,
  ): Promise<RuntimeImage | undefined> {
    const { clusterImages } = this;
    if (!clusterImages || pullDecision(wanted, true) === 'pull') return undefined;
    try {
      const asked = { image: wanted.image, asksServer: !isPresent };
      return await fromCluster({ ...this.#options, clusterImages }, pod, asked, signal);
    } catch (error) {
      if (signal.aborted || error instanceof ImageError) throw error;
      throw new ImageError('ErrImagePull', errorMessage(error), { cause: error });
    }
  }

  /** Returns advice for a failed pull of an image that the cluster holds. */
  async #advice(pod: Pod, image: string): Promise<string> {
    const held = await this.clusterImages?.find(pod, image, false).catch(() => undefined);
    return held
      ? '; the cluster holds an image of this name, which pods with imagePullPolicy IfNotPresent get without a registry'
      : '';
  }

  async #find(pod: Pod, image: string): Promise<RuntimeImage | undefined> {
    try {
      return await this.#options.runtime.findImage(image);
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.reason === 'Unavailable') throw error;
      const message = `Failed to inspect image ${JSON.stringify(image)}: ${error.engineMessage ?? error.message}`;
      this.#options.events.event(pod, 'Warning', 'InspectFailed', message);
      throw new ImageError('ImageInspectError', message, { cause: error });
    }
  }

  async #pull(
    pod: Pod,
    image: string,
    before: RuntimeImage | undefined,
    signal: AbortSignal,
  ): Promise<RuntimeImage> {
    const { events, clock, record } = this.#options;
    const quoted = JSON.stringify(image);
    events.event(pod, 'Normal', 'Pulling', `Pulling image ${quoted}`);
    const [began, from] = [clock.monotonic(), clock.now()];
    try {
      if (!before) await record.pulling(image);
      const { pulled, tookMs } = await this.#queue.add(withinNow(() => this.#pullNow(pod, image, signal)));
      if (pulled.id !== before?.id) await record.pulled(image, pulled.id);
      const times = `${goExactDuration(tookMs)} (${goExactDuration(clock.monotonic() - began)} including waiting)`;
      const message = `Successfully pulled image ${quoted} in ${times}. Image size: ${pulled.sizeBytes} bytes.`;
      events.event(pod, 'Normal', 'Pulled', message);
      this.#options.onPulled?.(pod.metadata.uid, { from, to: clock.now() });
      return pulled;
    } catch (error) {
      if (!before) await record.gaveUp(image);
      if (signal.aborted) throw error;
      const problem =
        (error instanceof RuntimeError ? error.engineMessage : undefined) ?? errorMessage(error);
      const reason = problem + (await this.#advice(pod, image));
      events.event(pod, 'Warning', 'Failed', `Failed to pull image ${quoted}: ${reason}`);
      throw new ImageError('ErrImagePull', reason, { cause: error });
    }
  }

  async #pullNow(pod: Pod, image: string, signal: AbortSignal) {
    signal.throwIfAborted();
    const { runtime, clock } = this.#options;
    const began = clock.monotonic();
    const credentials = credentialsFor(image, await this.#pullSecrets(pod));
    await this.#tryEach(image, credentials, signal);
    const pulled = await runtime.findImage(image);
    if (!pulled) throw new Error(`image ${JSON.stringify(image)} was pulled but is not present`);
    return { pulled, tookMs: clock.monotonic() - began };
  }

  /** Tries each of the credentials: several may fit, for example while one replaces another. */
  async #tryEach(
    image: string,
    credentials: readonly RegistryCredentials[],
    signal: AbortSignal,
  ): Promise<void> {
    const { runtime, pulls } = this.#options;
    const problems: unknown[] = [];
    for (const one of credentials.length > 0 ? credentials : [undefined]) {
      const pull = pulls?.begin(image);
      try {
        return await runtime.pullImage(image, signal, one, pull?.record);
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push(error);
      } finally {
        pull?.end();
      }
    }
    throw problems.at(-1);
  }

  /**
   * Returns the pull secrets that exist. Missing ones are reported by an event, because the pull may work
   * without them.
   */
  async #pullSecrets(pod: Pod): Promise<readonly Secret[]> {
    const { client, events } = this.#options;
    const { namespace = '' } = pod.metadata;
    const found: Secret[] = [];
    const missing: string[] = [];
    for (const name of new Set(pod.spec.imagePullSecrets?.map(({ name = '' }) => name))) {
      if (name === '') continue;
      try {
        found.push(await client.resource(secretResource).get(name, namespace));
      } catch {
        missing.push(name);
      }
    }
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
      events.event(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    return found;
  }
}
