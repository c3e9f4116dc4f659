/**
 * Starts one container: its image, its configuration, create, start, in the order of pkg/kubelet
 * startContainer.
 */

import { findContainer } from '../../api/core/v1/container/ephemeral-containers.ts';
import { graceSecondsOf } from '../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container, EphemeralContainer } from '../../api/core/v1/types.gen.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { DeviceError, type GivenDevices } from '../devices/plan/device.ts';
import { containerEnvironment, type EnvironmentContext } from '../environment/container-environment.ts';
import { ContainerConfigError } from '../environment/plan/container-config-error.ts';
import { expandEach } from '../environment/plan/expand.ts';
import type { ImageProvider } from '../images/image-provider.ts';
import { ImageError, type ImagePuller } from '../images/image-puller.ts';
import type { WantedImage } from '../images/plan/pull-decision.ts';
import type { NameFiles } from '../names/name-files.ts';
import type { ContainerConfig, ContainerRuntime, RuntimeImage, SandboxState } from '../runtime/runtime.ts';
import { containerImageMounts } from '../volumes/plan/volumes.ts';
import type { PodFiles } from '../volumes/pod-files.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { loadedProfiles, requireAppArmorProfile } from './app-armor-profiles.ts';
import { containerArgv, stopSignalOf } from './plan/image.ts';
import { preStopOf } from './plan/lifecycle.ts';
import { containerResources, oomScoreAdj } from './plan/resources.ts';
import { containerUser, nonRootProblem, seccompFileOf, securityOf } from './plan/security.ts';
import { specHash } from './plan/spec-hash.ts';
import type { StartContainer, StartFailureReason } from './plan/start.ts';
import { stopTurn } from './plan/stop-turn.ts';
import { forbiddenSysctl, type SysctlPattern } from './plan/sysctls.ts';
import { runtimeHandler } from './runtime-handler.ts';
import { readSeccompProfile } from './seccomp-profiles.ts';

export interface StartContext extends EnvironmentContext {
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly files: PodFiles;
  readonly names: NameFiles;
  readonly volumes: PodVolumes;
  readonly images: ImagePuller;
  /** Providers of images besides registries. */
  readonly imageProviders: readonly Pick<ImageProvider, 'takes' | 'ensure' | 'checkOther'>[];
  readonly devices: { giveTo(pod: Pod, container: string): Promise<GivenDevices> };
  readonly events: EventRecorder;
  readonly nodeMemoryBytes: number;
  /** Sysctls that pods may set in addition to the safe ones. */
  readonly unsafeSysctls: readonly SysctlPattern[];
  /** The folder of this machine's seccomp profiles. */
  readonly seccompProfiles: string;
  /** Runs the creation of a sandbox or a container when its turn in the queue comes. */
  startInTurn<T>(work: () => Promise<T>): Promise<T>;
}

interface StartErrorOptions extends ErrorOptions {
  readonly image?: string;
}

/** A failed start that is reported in the pod's status; other errors are thrown as they are. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: StartFailureReason;
  /** Name of the missing image, if that is the cause. */
  readonly image: string | undefined;

  constructor(reason: StartFailureReason, message: string, options?: StartErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.image = options?.image;
  }
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
  const config = await telling(context, pod, () =>
    containerConfig(context, pod, wanted, action, sandbox, images, signal),
  );
  return context.startInTurn(() => createAndStart(context, pod, config));
}

/** Runs the work; a failure that the pod's status reports is also an event. */
async function telling<T>({ events }: StartContext, pod: Pod, work: () => Promise<T>): Promise<T> {
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
  const id = await telling(context, pod, () =>
    orFail('CreateContainerError', () => runtime.createContainer(config)),
  );
  events.event(pod, 'Normal', 'Created', `Created container: ${config.name}`);
  const started = await telling(context, pod, () => startOrEnd(runtime, id));
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
    const { cause } = error;
    if (cause instanceof RuntimeError && cause.reason === 'SandboxEnded') {
      await runtime.remove(id);
      throw cause;
    }
    if (cause instanceof RuntimeError && cause.reason === 'NoSuchPart') {
      await runtime.remove(id);
      throw new StartError('CreateContainerError', cause.message, { cause });
    }
    if ((await runtime.inspect(id))?.state === 'exited') return false;
    throw error;
  }
}

interface Images {
  readonly own: RuntimeImage;
  /** Images that the container mounts as volumes, by the volume's name. */
  readonly mounted: ReadonlyMap<string, RuntimeImage>;
}

/** Makes sure of the images; those that the container mounts come first, as upstream. */
async function ensureImages(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  signal: AbortSignal,
): Promise<Images> {
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

/** Emits two events for a failure, of which the second has the reason, as upstream. */
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

async function containerConfig(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  action: StartContainer,
  sandbox: SandboxState,
  { own: image, mounted }: Images,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { files, names, volumes, nodeMemoryBytes } = context;
  const asRoot = nonRootProblem(pod, wanted, image.user);
  if (asRoot !== undefined) throw new StartError('CreateContainerConfigError', asRoot);
  // A new pod with such a sysctl is rejected; this is for a pod that was accepted when more were allowed.
  const sysctl = forbiddenSysctl(pod, context.unsafeSysctls);
  if (sysctl !== undefined) throw new StartError('CreateContainerConfigError', sysctl);
  const { uid, name, namespace = '' } = pod.metadata;
  const hostname = names.hostname(pod);
  const env = await configured(() => containerEnvironment(context, pod, wanted, sandbox.ip, signal));
  const lookUp = (variable: string) => env.get(variable);
  await configured(() => requireTarget(wanted, action));
  const own = await configured(() => volumes.containerMounts(pod, wanted, env));
  const imageMounts = await configured(async () => containerImageMounts(wanted, mounted, env));
  const blocks = await configured(() => volumes.containerDevices(pod, wanted));
  const given = await devicesFor(context, pod, wanted);
  const terminationMessageFile = await files.makeTerminationFile(uid, wanted.name, action.attempt);
  const message = { source: terminationMessageFile, target: wanted.terminationMessagePath, readOnly: false };
  const inHostNetwork = pod.spec.hostNetwork === true;
  const security = securityOf(pod, wanted, action.processesOf);
  await requireProfile(security);
  const argv = containerArgv(
    await configured(async () => ({
      ...(wanted.command && { command: expandEach(wanted.command, lookUp) }),
      ...(wanted.args && { args: expandEach(wanted.args, lookUp) }),
    })),
    image,
  );
  if (argv.length === 0) {
    throw new StartError(
      'CreateContainerError',
      'no command specified: neither the image nor the container has one',
    );
  }
  return {
    pod: { uid, name, namespace },
    name: wanted.name,
    sandboxId: sandbox.id,
    runtime: await configured(() => runtimeHandler(context.client, pod)),
    image: wanted.image,
    imageId: image.id,
    specHash: specHash(wanted),
    attempt: action.attempt,
    crashes: action.crashes,
    argv,
    workingDir: wanted.workingDir,
    env: [
      ...(inHostNetwork ? [] : [`HOSTNAME=${hostname}`]),
      ...Object.entries(given.env)
        .filter(([key]) => !env.has(key))
        .map(([key, value]) => `${key}=${value}`),
      ...[...env].map(([key, value]) => `${key}=${value}`),
    ],
    mounts: [
      ...names.mounts(pod, files.directory(uid), [...own, ...imageMounts]),
      ...own,
      ...given.mounts,
      message,
    ],
    imageMounts,
    devices: [...blocks, ...given.nodes],
    engineDevices: { cdi: given.cdi, nvidia: given.nvidia },
    ...(Object.keys(given.ids).length > 0 && { deviceIds: given.ids }),
    annotations: given.annotations,
    resources: { ...containerResources(wanted), oomScoreAdj: oomScoreAdj(pod, wanted, nodeMemoryBytes) },
    allocation: JSON.stringify({ limits: wanted.resources.limits, requests: wanted.resources.requests }),
    user: containerUser(pod, wanted, image.user),
    ...security,
    ...(await ownSeccomp(context, pod, wanted)),
    stdin: wanted.stdin ?? false,
    stdinOnce: wanted.stdinOnce ?? false,
    tty: wanted.tty ?? false,
    terminationMessageFile,
    terminationMessagePath: wanted.terminationMessagePath,
    gracePeriodSeconds: graceSecondsOf(pod.spec),
    stopTurn: stopTurn(pod.spec, wanted),
    preStop: preStopOf(wanted),
    stopSignal: stopSignalOf(wanted.lifecycle?.stopSignal, image),
    hostname: inHostNetwork || sandbox.hostname === hostname ? undefined : hostname,
  };
}

async function devicesFor({ devices }: StartContext, pod: Pod, { name }: Container): Promise<GivenDevices> {
  try {
    return await devices.giveTo(pod, name);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    throw new StartError('CreateContainerError', error.message, { cause: error });
  }
}

/** Returns the machine's seccomp profile that the pod requests; undefined when it requests none. */
async function ownSeccomp(
  { seccompProfiles }: StartContext,
  pod: Pod,
  wanted: Container,
): Promise<Pick<ContainerConfig, 'seccomp'> | undefined> {
  const file = seccompFileOf(pod, wanted);
  if (file === undefined) return undefined;
  try {
    return { seccomp: { profile: await readSeccompProfile(seccompProfiles, file) } };
  } catch (error) {
    const message = `cannot load seccomp profile ${JSON.stringify(file)}: ${errorMessage(error)}`;
    throw new StartError('CreateContainerError', message, { cause: error });
  }
}

async function requireProfile({ appArmor }: Pick<ContainerConfig, 'appArmor'>): Promise<void> {
  if (typeof appArmor !== 'object') return;
  const { profile } = appArmor;
  try {
    await requireAppArmorProfile(loadedProfiles, profile);
  } catch (error) {
    const message = `cannot use AppArmor profile ${JSON.stringify(profile)}: ${errorMessage(error)}`;
    throw new StartError('CreateContainerError', message, { cause: error });
  }
}

/**
 * Throws when the target container does not run: otherwise the container would see only its own processes,
 * and seem to see those of the target.
 */
async function requireTarget(
  wanted: Container & Pick<EphemeralContainer, 'targetContainerName'>,
  { processesOf }: StartContainer,
): Promise<void> {
  const { targetContainerName: target } = wanted;
  if (!target || processesOf !== undefined) return;
  throw new ContainerConfigError(`the target container ${target} does not run`);
}

/** Runs the work; an error in the container's configuration gets the reason CreateContainerConfigError. */
async function configured<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ContainerConfigError)) throw error;
    throw new StartError('CreateContainerConfigError', error.message, { cause: error });
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
