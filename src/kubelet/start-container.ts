/** Starting one container: its image, its configuration, create, start. The order of pkg/kubelet startContainer. */

import { findContainer } from '../api/core/v1/ephemeral-containers.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import type { Container, EphemeralContainer } from '../api/core/v1/types.gen.ts';
import { errorMessage } from '../base/log.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import { RuntimeError } from '../docker/runtime-error.ts';
import { containerEnvironment, type EnvironmentContext } from './container-environment.ts';
import type { PodAction, StartFailureReason } from './plan/actions.ts';
import { ContainerConfigError } from './plan/container-config-error.ts';
import { expand } from './plan/env.ts';
import { containerArgv, isImageName, pullDecision } from './plan/image.ts';
import { containerResources, qosClass } from './plan/resources.ts';
import { containerUser, nonRootProblem, securityOf } from './plan/security.ts';
import { specHash } from './plan/spec-hash.ts';
import type { PodFiles } from './pod-files.ts';
import type { ContainerConfig, ContainerRuntime, RuntimeImage, SandboxState } from './runtime/runtime.ts';
import { runtimeHandler } from './runtime-handler.ts';

export type StartAction = Extract<PodAction, { type: 'startContainer' }>;

export interface StartContext extends EnvironmentContext {
  readonly runtime: ContainerRuntime;
  readonly files: PodFiles;
  readonly events: EventRecorder;
  readonly nodeMemoryBytes: number;
  /** Makes a sandbox or a container when it is its turn. */
  startInTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a pull when it is its turn. */
  pullInTurn(work: () => Promise<void>): Promise<void>;
}

/** A start that failed in a way the pod's status tells; anything else is thrown as it is. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: StartFailureReason;

  constructor(reason: StartFailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Resolves with the container's id once it was started. `signal` gives up waiting for an image. */
export async function startContainer(
  context: StartContext,
  pod: Pod,
  action: StartAction,
  sandbox: SandboxState,
  signal: AbortSignal,
): Promise<string> {
  const wanted = findContainer(pod.spec, action.name);
  if (!wanted) throw new Error(`pod ${pod.metadata.name} has no container ${action.name}`);
  const image = await ensureImage(context, pod, wanted, signal);
  const config = await telling(context, pod, () =>
    containerConfig(context, pod, wanted, action, sandbox, image, signal),
  );
  return context.startInTurn(() => createAndStart(context, pod, config));
}

/** A failure of the work that the pod's status tells is an event too. */
async function telling<T>({ events }: StartContext, pod: Pod, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartError) events.event(pod, 'Warning', 'Failed', `Error: ${error.message}`);
    throw error;
  }
}

/** Resolves also when the container could not run: what the engine kept of it tells the status and the back-off. */
async function createAndStart(context: StartContext, pod: Pod, config: ContainerConfig): Promise<string> {
  const { runtime, events } = context;
  const id = await telling(context, pod, () =>
    orFail('CreateContainerError', () => runtime.createContainer(config)),
  );
  events.event(pod, 'Normal', 'Created', `Created container ${config.name}`);
  const started = await telling(context, pod, () => startOrEnd(runtime, id));
  if (started) events.event(pod, 'Normal', 'Started', `Started container ${config.name}`);
  return id;
}

/**
 * False when the container could not run and has ended by that, of which the pod's worker makes the event. One whose
 * sandbox has ended is no failure of its own: it goes, uncounted, and is made again in the next sandbox.
 */
async function startOrEnd(runtime: ContainerRuntime, id: string): Promise<boolean> {
  try {
    await orFail('RunContainerError', () => runtime.startContainer(id));
    return true;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    if (error.cause instanceof RuntimeError && error.cause.reason === 'SandboxEnded') {
      await runtime.remove(id);
      throw error.cause;
    }
    if ((await runtime.inspect(id))?.state === 'exited') return false;
    throw error;
  }
}

async function ensureImage(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  signal: AbortSignal,
): Promise<RuntimeImage> {
  const { runtime, events } = context;
  const { image } = wanted;
  if (!isImageName(image)) {
    const message = `Failed to apply default image tag ${JSON.stringify(image)}: couldn't parse image name: invalid reference format`;
    events.event(pod, 'Warning', 'InspectFailed', message);
    throw new StartError('InvalidImageName', message);
  }
  const present = await runtime.findImage(image);
  const decision = pullDecision(wanted, present !== undefined);
  if (decision === 'never') {
    const message = `Container image ${JSON.stringify(image)} is not present with pull policy of Never`;
    events.event(pod, 'Warning', 'ErrImageNeverPull', message);
    throw new StartError('ErrImageNeverPull', message);
  }
  if (decision === 'use' && present) {
    events.event(
      pod,
      'Normal',
      'Pulled',
      `Container image ${JSON.stringify(image)} already present on machine`,
    );
    return present;
  }
  events.event(pod, 'Normal', 'Pulling', `Pulling image ${JSON.stringify(image)}`);
  try {
    await context.pullInTurn(() => runtime.pullImage(image, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    const said = error instanceof RuntimeError ? error.said : undefined;
    const message = `Failed to pull image ${JSON.stringify(image)}: ${said ?? errorMessage(error)}`;
    events.event(pod, 'Warning', 'Failed', message);
    throw new StartError('ErrImagePull', message, { cause: error });
  }
  events.event(pod, 'Normal', 'Pulled', `Successfully pulled image ${JSON.stringify(image)}`);
  const pulled = await runtime.findImage(image);
  if (!pulled)
    throw new StartError('ErrImagePull', `image ${JSON.stringify(image)} was pulled but is not present`);
  return pulled;
}

async function containerConfig(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  action: StartAction,
  sandbox: SandboxState,
  image: RuntimeImage,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { files, nodeMemoryBytes } = context;
  const asRoot = nonRootProblem(pod, wanted, image.user);
  if (asRoot !== undefined) throw new StartError('CreateContainerConfigError', asRoot);
  const { uid, name, namespace = '' } = pod.metadata;
  const hostname = files.hostname(pod);
  const env = await configured(() => containerEnvironment(context, pod, wanted, sandbox.ip, signal));
  const lookUp = (variable: string) => env.get(variable);
  await configured(() => requireTarget(wanted, action));
  const own = await configured(() => files.containerMounts(pod, wanted, env));
  const terminationMessageFile = await files.makeTerminationFile(uid, wanted.name, action.attempt);
  const message = { source: terminationMessageFile, target: wanted.terminationMessagePath, readOnly: false };
  const inHostNetwork = pod.spec.hostNetwork === true;
  const argv = containerArgv(
    {
      ...(wanted.command && { command: wanted.command.map((text) => expand(text, lookUp)) }),
      ...(wanted.args && { args: wanted.args.map((text) => expand(text, lookUp)) }),
    },
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
      ...[...env].map(([key, value]) => `${key}=${value}`),
    ],
    mounts: [...files.nameMounts(pod, own), ...own, message],
    resources: containerResources(wanted, qosClass(pod), nodeMemoryBytes),
    user: containerUser(pod, wanted, image.user),
    ...securityOf(pod, wanted, action.processesOf),
    stdin: wanted.stdin ?? false,
    stdinOnce: wanted.stdinOnce ?? false,
    tty: wanted.tty ?? false,
    terminationMessageFile,
    terminationMessagePath: wanted.terminationMessagePath,
    gracePeriodSeconds: pod.spec.terminationGracePeriodSeconds,
    hostname: inHostNetwork || sandbox.hostname === hostname ? undefined : hostname,
  };
}

/** Without it the container would see its own processes, and look like one that sees the other's. */
async function requireTarget(
  wanted: Container & Pick<EphemeralContainer, 'targetContainerName'>,
  { processesOf }: StartAction,
): Promise<void> {
  const { targetContainerName: target } = wanted;
  if (!target || processesOf !== undefined) return;
  throw new ContainerConfigError(`the target container ${target} does not run`);
}

/** An error in the container's configuration gets the reason CreateContainerConfigError. */
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
