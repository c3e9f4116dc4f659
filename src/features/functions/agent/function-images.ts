/**
 * Provides a function's image for a container of one of its pods. There is no registry, so the image is built
 * on this node.
 */
import PQueue from 'p-queue';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { aborted, unlessAborted } from '../../../base/abort.ts';
import { type Clock, rfc3339 } from '../../../base/clock.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import { goExactDuration } from '../../../base/time.ts';
import type { Client } from '../../../client/client.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { RuntimeError } from '../../../docker/runtime-error.ts';
import type { ImageProvider } from '../../../kubelet/images/image-provider.ts';
import { ImageError, type ImagePuller } from '../../../kubelet/images/image-puller.ts';
import type { ImageRecord } from '../../../kubelet/images/image-record.ts';
import type { ContainerRuntime, RuntimeImage } from '../../../kubelet/runtime/runtime.ts';
import { isFunctionImage } from '../api/function-image.ts';
import { functionVersionLabel } from '../api/function-instance.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import { BuildLog, logPath } from './build-log.ts';
import type { FunctionBuilder } from './function-builder.ts';
import { BuildError } from './plan/build-error.ts';
import { withBuild } from './plan/build-status.ts';
import { functionNames, useProblem, versionProblem } from './plan/image-use.ts';
import { changeStatus } from './version-status.ts';

export interface FunctionImagesOptions {
  readonly client: Client;
  readonly runtime: Pick<ContainerRuntime, 'findImage'>;
  readonly images: Pick<ImagePuller, 'ensure'>;
  readonly record: Pick<ImageRecord, 'gaveUp' | 'pulling' | 'pulled'>;
  /** Undefined where the runtime cannot build. */
  readonly builder: Pick<FunctionBuilder, 'build'> | undefined;
  /** Nothing is built until it resolves. */
  readonly ready?: Promise<void>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly dataDir: string;
}

/** Maximum number of builds at once; one build may already use all of the machine's bandwidth. */
const atOnce = 2;
const timeLimitMs = 600_000;

interface Build {
  readonly image: Promise<RuntimeImage>;
  readonly end: AbortController;
  /** Number of containers that wait for the build; without any, the build is aborted. */
  waiting: number;
}

export class FunctionImages implements ImageProvider {
  readonly #options: FunctionImagesOptions;
  readonly #queue = new PQueue({ concurrency: atOnce });
  readonly #builds = new Map<string, Build>();

  constructor(options: FunctionImagesOptions) {
    this.#options = options;
  }

  takes(image: string): boolean {
    return isFunctionImage(image);
  }

  /**
   * Throws ImageError for the image of a function: a container that names the image by its id would avoid the
   * check of the namespace.
   */
  checkOther({ names }: RuntimeImage): void {
    if (functionNames(names).length === 0) return;
    const message = `it is the image of a function: only pods of the function may use it, and only by its name`;
    throw new ImageError('FunctionImageRefused', message);
  }

  /** Resolves with the image. Rejects with an ImageError, or with the reason of the signal when it aborts. */
  async ensure(pod: Pod, image: string, signal: AbortSignal): Promise<RuntimeImage> {
    const { events, runtime } = this.#options;
    const problem = useProblem(pod, image);
    if (problem !== undefined) throw this.#refused(pod, problem);
    const present = await runtime.findImage(image);
    if (present) {
      events.event(
        pod,
        'Normal',
        'Pulled',
        `Container image ${JSON.stringify(image)} already present on machine`,
      );
      return present;
    }
    const version = await this.#version(pod);
    const mismatch = versionProblem(version, image);
    if (mismatch !== undefined) throw this.#refused(pod, mismatch);
    return this.#share(pod, version, signal);
  }

  /**
   * Aborts the builds; resolves when none is left. The signals of the waiting callers must have been aborted.
   */
  async close(): Promise<void> {
    for (const { end } of this.#builds.values()) end.abort();
    await Promise.allSettled([...this.#builds.values()].map(({ image }) => image));
  }

  #refused(pod: Pod, message: string): ImageError {
    this.#options.events.event(pod, 'Warning', 'Failed', message);
    return new ImageError('FunctionImageRefused', message);
  }

  async #version({ metadata }: Pod): Promise<FunctionVersion> {
    const name = metadata.labels?.[functionVersionLabel] ?? '';
    try {
      return await this.#options.client.resource(functionVersionResource).get(name, metadata.namespace);
    } catch (error) {
      const message = `cannot read FunctionVersion ${name}: ${errorMessage(error)}`;
      throw new ImageError('FunctionBuildFailed', message, { cause: error });
    }
  }

  /** Starts or joins a build: pods with the same image wait for one build. */
  async #share(pod: Pod, version: FunctionVersion, signal: AbortSignal): Promise<RuntimeImage> {
    const { image } = version.spec;
    // A build that is being aborted is not joined.
    while (this.#builds.get(image)?.end.signal.aborted)
      await unlessAborted(signal, Promise.allSettled([this.#builds.get(image)?.image]));
    signal.throwIfAborted();
    const build = this.#builds.get(image) ?? this.#begin(pod, version);
    build.waiting++;
    try {
      return await unlessAborted(signal, build.image);
    } finally {
      if (--build.waiting === 0) build.end.abort();
    }
  }

  #begin(pod: Pod, version: FunctionVersion): Build {
    const { image } = version.spec;
    const end = new AbortController();
    const done = this.#queue
      .add(() => this.#build(pod, version, end.signal))
      .finally(() => this.#builds.delete(image));
    const build = { image: done, end, waiting: 0 };
    this.#builds.set(image, build);
    return build;
  }

  async #build(pod: Pod, version: FunctionVersion, ended: AbortSignal): Promise<RuntimeImage> {
    await Promise.race([this.#options.ready, aborted(ended)]);
    ended.throwIfAborted();
    const { events, clock, record, builder } = this.#options;
    if (!builder) throw new ImageError('FunctionBuildFailed', 'this node builds no functions');
    const { image, baseImage } = version.spec;
    const late = new AbortController();
    const timer = clock.after(timeLimitMs, () => late.abort());
    const signal = AbortSignal.any([ended, late.signal]);
    const log = new BuildLog();
    const began = clock.monotonic();
    events.event(pod, 'Normal', 'Building', `Building image ${JSON.stringify(image)}`);
    try {
      log.addLine(`building ${image} from ${baseImage}`);
      const base = await this.#base(pod, version, signal);
      await record.pulling(image);
      const built = await this.#made(version, base.id, log, signal);
      await record.pulled(image, built.id);
      const took = goExactDuration(clock.monotonic() - began);
      log.addLine(`built in ${took}`);
      events.event(pod, 'Normal', 'Built', `Successfully built image ${JSON.stringify(image)} in ${took}`);
      await this.#report(version, log, { isBuilt: true, reason: 'Built', message: `built in ${took}` });
      return built;
    } catch (error) {
      await record.gaveUp(image);
      if (ended.aborted) throw ended.reason;
      throw await this.#failed(pod, version, log, late.signal.aborted ? tooLate() : error);
    } finally {
      timer.cancel();
    }
  }

  /** Reports the failure of a build, and returns the error of the image. */
  async #failed(pod: Pod, version: FunctionVersion, log: BuildLog, failure: unknown): Promise<ImageError> {
    const { image } = version.spec;
    const message = failureMessage(failure, log);
    log.addLine(failure instanceof BuildError ? failure.message : errorMessage(failure));
    const what = `Failed to build image ${JSON.stringify(image)}: ${message}`;
    this.#options.events.event(pod, 'Warning', 'Failed', what);
    await this.#report(version, log, { isBuilt: false, reason: reasonOf(failure), message });
    if (failure instanceof ImageError) return failure;
    return new ImageError('FunctionBuildFailed', message, { cause: failure });
  }

  /** Builds the image. An error after which the image is present, such as a lost answer, is ignored. */
  async #made(
    version: FunctionVersion,
    baseImage: string,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<RuntimeImage> {
    const { builder, runtime } = this.#options;
    const { image } = version.spec;
    try {
      await builder?.build(version, baseImage, log, signal);
    } catch (error) {
      const made = await runtime.findImage(image).catch(() => undefined);
      if (!made) throw error;
      return made;
    }
    const built = await runtime.findImage(image);
    if (!built) throw new Error(`image ${image} was built but is not present`);
    return built;
  }

  /**
   * Returns the base image. An error includes its name, because the reader can see the function but perhaps
   * not its base image.
   */
  async #base(pod: Pod, { spec }: FunctionVersion, signal: AbortSignal): Promise<RuntimeImage> {
    const { runtime, baseImage: image = '' } = spec;
    try {
      return await this.#options.images.ensure(pod, { image, imagePullPolicy: 'IfNotPresent' }, signal);
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      const advice = `load one with minik8s ctl image load IMAGE --name ${image}, or start minik8s up with another --${runtime}-image`;
      throw new ImageError(error.reason, `base image ${image}: ${error.message}; ${advice}`, {
        cause: error,
      });
    }
  }

  /**
   * Reports the result for users and for the controller. A failure here does not change whether the image
   * exists.
   */
  async #report(
    version: FunctionVersion,
    log: BuildLog,
    result: { readonly isBuilt: boolean; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { client, nodeName, clock, dataDir } = this.#options;
    const { name, namespace } = version.metadata;
    const warn = (what: string) => (error: unknown) =>
      this.#options.log.warn(what, { version: `${namespace}/${name}`, error: errorMessage(error) });
    await log.save(logPath(dataDir, version.spec.image)).catch(warn('cannot write the log of a build'));
    const build = { ...result, log: log.tail, nodeName, at: rfc3339(clock.now()) };
    await changeStatus(client, version, (status) => withBuild(status, build)).catch(
      warn('cannot write the result of a build'),
    );
  }
}

const tooLate = () => new BuildError(`the build took more than ${timeLimitMs / 60_000} minutes`);

/** Returns the reason of the condition. */
function reasonOf(failure: unknown): string {
  if (failure instanceof ImageError) return 'BaseImageMissing';
  return failure instanceof BuildError ? 'BuildFailed' : 'BuildError';
}

/** Returns the error's message, with the last lines of the installation's output. */
function failureMessage(failure: unknown, log: BuildLog): string {
  const reason =
    (failure instanceof RuntimeError ? failure.engineMessage : undefined) ?? errorMessage(failure);
  const lines = failure instanceof BuildError ? log.message : '';
  return lines.includes('\n') ? `${reason}:\n${lines}` : reason;
}
