/**
 * Starts one container: its image, its configuration, create, start, in the order of pkg/kubelet
 * startContainer.
 */

import { findContainer } from '../../api/core/v1/container/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ImageProvider } from '../images/image-provider.ts';
import { ImageError, type ImagePuller } from '../images/image-puller.ts';
import type { WantedImage } from '../images/plan/pull-decision.ts';
import type { ContainerConfig } from '../runtime/container-config.ts';
import type { ContainerRuntime, RuntimeImage, SandboxState } from '../runtime/runtime.ts';
import { type ConfigContext, type ContainerImages, containerConfig } from './container-config.ts';
import type { StartContainer, StartFailureReason } from './plan/start.ts';
import { StartError } from './start-error.ts';

export interface StartContext extends ConfigContext {
  readonly runtime: ContainerRuntime;
  readonly images: ImagePuller;
  /** Providers of images besides registries. */
  readonly imageProviders: readonly Pick<ImageProvider, 'takes' | 'ensure' | 'checkOther'>[];
  readonly events: EventRecorder;
  /** Runs the creation of a sandbox or a container when its turn in the queue comes. */
  startInTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Starts a container; resolves with its id once it was started. `signal` aborts the wait for an image. */
export async function startContainer(
  context: StartContext,
  pod: Pod,
  action: StartContainer,
  sandbox: SandboxState,
  signal: AbortSignal,
): Promise<string> {
  const wanted = findContainer(pod.spec, action.name);
  if (!wanted) throw new Error(`pod ${pod.metadata.name} has no container ${action.name}`);
  const images = await ensureImages(context, pod, wanted, signal);
  const config = await withEvent(context, pod, () =>
    containerConfig(context, { pod, wanted, action, sandbox, images }, signal),
  );
  return context.startInTurn(() => createAndStart(context, pod, config));
}

/** Runs the work; a failure that the pod's status reports is also an event. */
async function withEvent<T>({ events }: StartContext, pod: Pod, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartError) events.event(pod, 'Warning', 'Failed', `Error: ${error.message}`);
    throw error;
  }
}

/**
 * Resolves also when the container could not run: its state in the engine then determines the status and the
 * back-off.
 */
async function createAndStart(context: StartContext, pod: Pod, config: ContainerConfig): Promise<string> {
  const { runtime, events } = context;
  const id = await withEvent(context, pod, () =>
    orFail('CreateContainerError', () => runtime.createContainer(config)),
  );
  events.event(pod, 'Normal', 'Created', `Created container: ${config.name}`);
  const started = await withEvent(context, pod, () => startOrEnd(runtime, id));
  if (started) events.event(pod, 'Normal', 'Started', `Started container ${config.name}`);
  return id;
}

/**
 * Resolves with false when the container could not run and has ended because of that; the pod's worker emits
 * the event. A container whose sandbox has ended has not failed itself: it is removed without being counted,
 * and is created again in the next sandbox. A container that mounts a missing part of an image waits, like
 * one that cannot be created.
 */
async function startOrEnd(runtime: ContainerRuntime, id: string): Promise<boolean> {
  try {
    await orFail('RunContainerError', () => runtime.startContainer(id));
    return true;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const unstartable = error.cause instanceof RuntimeError ? errorOfPart(error.cause) : undefined;
    if (unstartable) {
      await runtime.remove(id);
      throw unstartable;
    }
    if ((await runtime.inspect(id))?.state === 'exited') return false;
    throw error;
  }
}

/**
 * Returns the error of a container that can never start, because its sandbox has ended or a mounted path of
 * an image is missing; undefined for other causes.
 */
function errorOfPart(cause: RuntimeError): Error | undefined {
  if (cause.reason === 'SandboxEnded') return cause;
  if (cause.reason === 'NoSuchPart') return new StartError('CreateContainerError', cause.message, { cause });
  return undefined;
}

/**
 * Ensures that the images are on this machine: first the images that the container mounts, then its own, as
 * upstream.
 */
async function ensureImages(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  signal: AbortSignal,
): Promise<ContainerImages> {
  const { images, imageProviders } = context;
  const names = new Set((wanted.volumeMounts ?? []).map(({ name }) => name));
  const mounted = new Map<string, RuntimeImage>();
  for (const { name, image: source } of pod.spec.volumes ?? []) {
    if (!source || !names.has(name)) continue;
    const image = { image: source.reference ?? '', imagePullPolicy: source.pullPolicy };
    const found = await ensured(context, pod, image, async () =>
      checked(context, await images.ensureOnce(pod, image, signal)),
    );
    mounted.set(name, found);
  }
  const provider = imageProviders.find((one) => one.takes(wanted.image));
  const own = await ensured(context, pod, wanted, async () =>
    provider
      ? provider.ensure(pod, wanted.image, signal)
      : checked(context, await images.ensure(pod, wanted, signal)),
  );
  return { own, mounted };
}

/** Throws ImageError for an image of a provider, which checks who may use it only by its name. */
function checked({ imageProviders }: StartContext, found: RuntimeImage): RuntimeImage {
  for (const provider of imageProviders) provider.checkOther?.(found);
  return found;
}

/** Emits two events for a failure, as upstream; the second one has the reason. */
async function ensured(
  { events }: StartContext,
  pod: Pod,
  { image }: WantedImage,
  work: () => Promise<RuntimeImage>,
): Promise<RuntimeImage> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    events.event(pod, 'Warning', 'Failed', `Error: ${error.reason}`);
    throw new StartError(error.reason, error.message, { cause: error, image });
  }
}

async function orFail<T>(reason: StartFailureReason, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RuntimeError && error.reason !== 'Unavailable') {
      throw new StartError(reason, error.message, { cause: error });
    }
    throw error;
  }
}
