/** Starting one container: its image, its configuration, create, start. The order of pkg/kubelet startContainer. */

import { type ConfigMap, configMapResource } from '../api/core/v1/config-map.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { containerReferences } from '../api/core/v1/pod-references.ts';
import type { Container } from '../api/core/v1/pod-spec.ts';
import { type Secret, secretResource } from '../api/core/v1/secret.ts';
import { isNotFound } from '../apimachinery/status-error.ts';
import type { Client } from '../client/client.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import type { PodAction, StartFailureReason } from './plan/actions.ts';
import { type ConfigSources, ContainerConfigError, expand, resolveEnv } from './plan/env.ts';
import { containerArgv, isImageName, pullDecision } from './plan/image.ts';
import { containerResources, qosClass } from './plan/resources.ts';
import { containerUser, securityOf } from './plan/security.ts';
import { specHash } from './plan/spec-hash.ts';
import { containerMounts } from './plan/volumes.ts';
import type { PodFiles } from './pod-files.ts';
import {
  type ContainerConfig,
  type ContainerRuntime,
  RuntimeError,
  type RuntimeImage,
  type SandboxState,
} from './runtime/runtime.ts';

export type StartAction = Extract<PodAction, { type: 'startContainer' }>;

export interface StartContext {
  readonly runtime: ContainerRuntime;
  readonly client: Client;
  readonly files: PodFiles;
  readonly events: EventRecorder;
  readonly nodeIP: string;
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
  const wanted = pod.spec.containers.find(({ name }) => name === action.name);
  if (!wanted) throw new Error(`pod ${pod.metadata.name} has no container ${action.name}`);
  const image = await ensureImage(context, pod, wanted, signal);
  const config = await containerConfig(context, pod, wanted, action, sandbox, image);
  return context.startInTurn(() => createAndStart(context, pod, config));
}

/** Resolves also when the container could not run: what the engine kept of it tells the status and the back-off. */
async function createAndStart(
  { runtime, events }: StartContext,
  pod: Pod,
  config: ContainerConfig,
): Promise<string> {
  const id = await orFail('CreateContainerError', () => runtime.createContainer(config));
  events.event(pod, 'Normal', 'Created', `Created container ${config.name}`);
  try {
    await orFail('RunContainerError', () => runtime.startContainer(id));
  } catch (error) {
    events.event(pod, 'Warning', 'Failed', `Error: ${(error as Error).message}`);
    if (error instanceof StartError && (await runtime.inspect(id))?.state === 'exited') return id;
    throw error;
  }
  events.event(pod, 'Normal', 'Started', `Started container ${config.name}`);
  return id;
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
    const message = `failed to pull image ${JSON.stringify(image)}: ${(error as Error).message}`;
    events.event(pod, 'Warning', 'Failed', message);
    throw new StartError('ErrImagePull', message, { cause: error });
  }
  events.event(pod, 'Normal', 'Pulled', `Successfully pulled image ${JSON.stringify(image)}`);
  const pulled = await runtime.findImage(image);
  if (!pulled)
    throw new StartError('ErrImagePull', `image ${JSON.stringify(image)} is not there after its pull`);
  return pulled;
}

async function containerConfig(
  context: StartContext,
  pod: Pod,
  wanted: Container,
  action: StartAction,
  sandbox: SandboxState,
  image: RuntimeImage,
): Promise<ContainerConfig> {
  const { files, nodeMemoryBytes } = context;
  const { uid, name, namespace = '' } = pod.metadata;
  const hostname = files.hostname(pod);
  const env = await environment(context, pod, wanted, sandbox);
  const own = containerMounts(pod, wanted, files.directory(uid));
  const terminationMessageFile = await files.makeTerminationFile(uid, wanted.name, action.attempt);
  const message = { source: terminationMessageFile, target: wanted.terminationMessagePath, readOnly: false };
  const inHostNetwork = pod.spec.hostNetwork === true;
  const argv = containerArgv(
    {
      ...(wanted.command && { command: wanted.command.map((text) => expand(text, env)) }),
      ...(wanted.args && { args: wanted.args.map((text) => expand(text, env)) }),
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
    ...securityOf(wanted),
    stdin: wanted.stdin ?? false,
    stdinOnce: wanted.stdinOnce ?? false,
    tty: wanted.tty ?? false,
    terminationMessageFile,
    terminationMessagePath: wanted.terminationMessagePath,
    gracePeriodSeconds: pod.spec.terminationGracePeriodSeconds,
    hostname: inHostNetwork || sandbox.hostname === hostname ? undefined : hostname,
  };
}

async function environment(
  { client, nodeIP }: StartContext,
  pod: Pod,
  wanted: Container,
  sandbox: SandboxState,
): Promise<ReadonlyMap<string, string>> {
  try {
    const sources = await fetchSources(client, pod, wanted);
    return resolveEnv(pod, wanted, { podIP: sandbox.ip ?? nodeIP, hostIP: nodeIP }, sources);
  } catch (error) {
    if (!(error instanceof ContainerConfigError)) throw error;
    throw new StartError('CreateContainerConfigError', error.message, { cause: error });
  }
}

async function fetchSources(client: Client, pod: Pod, wanted: Container): Promise<ConfigSources> {
  const names = containerReferences(wanted);
  const { namespace = '' } = pod.metadata;
  const [configMaps, secrets] = await Promise.all([
    fetchAll<ConfigMap>(names.configMaps, (name) => client.resource(configMapResource).get(name, namespace)),
    fetchAll<Secret>(names.secrets, (name) => client.resource(secretResource).get(name, namespace)),
  ]);
  return { configMaps, secrets };
}

async function fetchAll<T>(
  names: ReadonlySet<string>,
  get: (name: string) => Promise<T>,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const name of names) {
    try {
      found.set(name, await get(name));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return found;
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
