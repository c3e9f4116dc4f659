/** The configuration of a container that is about to be created, from its pod, its image and the node. */
import { graceSecondsOf } from '../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container, EphemeralContainer } from '../../api/core/v1/types.gen.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { DeviceError, type GivenDevices } from '../devices/plan/device.ts';
import { containerEnvironment, type EnvironmentContext } from '../environment/container-environment.ts';
import { ContainerConfigError } from '../environment/plan/container-config-error.ts';
import { expandEach } from '../environment/plan/expand.ts';
import type { NameFiles } from '../names/name-files.ts';
import type { ContainerConfig } from '../runtime/container-config.ts';
import type { RuntimeImage, SandboxState } from '../runtime/runtime.ts';
import { containerImageMounts } from '../volumes/plan/volumes.ts';
import type { PodFiles } from '../volumes/pod-files.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { loadedProfiles, requireAppArmorProfile } from './app-armor-profiles.ts';
import { containerArgv, stopSignalOf } from './plan/image.ts';
import { preStopOf } from './plan/lifecycle.ts';
import { containerResources, oomScoreAdj } from './plan/resources.ts';
import { containerUser, nonRootProblem, seccompFileOf, securityOf } from './plan/security.ts';
import { specHash } from './plan/spec-hash.ts';
import type { StartContainer } from './plan/start.ts';
import { stopTurn } from './plan/stop-turn.ts';
import { forbiddenSysctl, type SysctlPattern } from './plan/sysctls.ts';
import { runtimeHandler } from './runtime-handler.ts';
import { readSeccompProfile } from './seccomp-profiles.ts';
import { StartError } from './start-error.ts';

export interface ConfigContext extends EnvironmentContext {
  readonly client: Client;
  readonly files: PodFiles;
  readonly names: NameFiles;
  readonly volumes: PodVolumes;
  readonly devices: { giveTo(pod: Pod, container: string): Promise<GivenDevices> };
  readonly nodeMemoryBytes: number;
  /** Sysctls that pods may set in addition to the safe ones. */
  readonly unsafeSysctls: readonly SysctlPattern[];
  /** The folder of this machine's seccomp profiles. */
  readonly seccompProfiles: string;
}

export interface ContainerImages {
  readonly own: RuntimeImage;
  /** Images that the container mounts as volumes, by the volume's name. */
  readonly mounted: ReadonlyMap<string, RuntimeImage>;
}

export interface Starting {
  readonly pod: Pod;
  readonly wanted: Container;
  readonly action: StartContainer;
  readonly sandbox: SandboxState;
  readonly images: ContainerImages;
}

type Environment = ReadonlyMap<string, string>;

/**
 * Returns the configuration. Throws a StartError if the pod requests something that is not allowed or does
 * not exist. `signal` aborts the reading of ConfigMaps and Secrets.
 */
export async function containerConfig(
  context: ConfigContext,
  starting: Starting,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { pod, wanted, action, sandbox, images } = starting;
  requireAllowed(context, starting);
  const env = await configured(() => containerEnvironment(context, pod, wanted, sandbox.ip, signal));
  await configured(() => requireTarget(wanted, action));
  const mounts = await configured(() => context.volumes.containerMounts(pod, wanted, env));
  const imageMounts = await configured(async () => containerImageMounts(wanted, images.mounted, env));
  const blocks = await configured(() => context.volumes.containerDevices(pod, wanted));
  const given = await devicesFor(context, pod, wanted);
  const terminationMessageFile = await context.files.makeTerminationFile(
    pod.metadata.uid,
    wanted.name,
    action.attempt,
  );
  const message = { source: terminationMessageFile, target: wanted.terminationMessagePath, readOnly: false };
  const security = securityOf(pod, wanted, action.processesOf);
  await requireProfile(security);
  const argv = await argvOf(wanted, images.own, env);
  return {
    ...aboutContainer(starting),
    ...namesOf(context, starting),
    runtime: await configured(() => runtimeHandler(context.client, pod)),
    argv,
    env: variables(context, pod, given, env),
    mounts: [
      ...context.names.mounts(pod, context.files.directory(pod.metadata.uid), [...mounts, ...imageMounts]),
      ...mounts,
      ...given.mounts,
      message,
    ],
    imageMounts,
    ...deviceFields(given, blocks),
    resources: {
      ...containerResources(wanted),
      oomScoreAdj: oomScoreAdj(pod, wanted, context.nodeMemoryBytes),
    },
    ...security,
    ...(await ownSeccomp(context, pod, wanted)),
    terminationMessageFile,
  };
}

/** Throws a StartError for a user or a sysctl that is not allowed. */
function requireAllowed({ unsafeSysctls }: ConfigContext, { pod, wanted, images }: Starting): void {
  const asRoot = nonRootProblem(pod, wanted, images.own.user);
  if (asRoot !== undefined) throw new StartError('CreateContainerConfigError', asRoot);
  // A new pod with such a sysctl is rejected; this is for a pod that was accepted when more were allowed.
  const sysctl = forbiddenSysctl(pod, unsafeSysctls);
  if (sysctl !== undefined) throw new StartError('CreateContainerConfigError', sysctl);
}

/** Returns the fields that follow from the pod, the action and the image alone. */
const aboutContainer = ({ pod, wanted, action, sandbox, images }: Starting) => ({
  pod: { uid: pod.metadata.uid, name: pod.metadata.name, namespace: pod.metadata.namespace ?? '' },
  name: wanted.name,
  sandboxId: sandbox.id,
  image: wanted.image,
  imageId: images.own.id,
  specHash: specHash(wanted),
  attempt: action.attempt,
  crashes: action.crashes,
  workingDir: wanted.workingDir,
  allocation: JSON.stringify({ limits: wanted.resources.limits, requests: wanted.resources.requests }),
  user: containerUser(pod, wanted, images.own.user),
  stdin: wanted.stdin ?? false,
  stdinOnce: wanted.stdinOnce ?? false,
  tty: wanted.tty ?? false,
  terminationMessagePath: wanted.terminationMessagePath,
  gracePeriodSeconds: graceSecondsOf(pod.spec),
  stopTurn: stopTurn(pod.spec, wanted),
  preStop: preStopOf(wanted),
  stopSignal: stopSignalOf(wanted.lifecycle?.stopSignal, images.own),
});

/** Returns the host name for a container whose sandbox does not have it already. */
function namesOf({ names }: ConfigContext, { pod, sandbox }: Starting): Pick<ContainerConfig, 'hostname'> {
  const hostname = names.hostname(pod);
  return { hostname: pod.spec.hostNetwork || sandbox.hostname === hostname ? undefined : hostname };
}

/** Returns the program and its arguments, from the container and its image. Throws if neither has one. */
async function argvOf(wanted: Container, image: RuntimeImage, env: Environment): Promise<readonly string[]> {
  const lookUp = (variable: string) => env.get(variable);
  const own = await configured(async () => ({
    ...(wanted.command && { command: expandEach(wanted.command, lookUp) }),
    ...(wanted.args && { args: expandEach(wanted.args, lookUp) }),
  }));
  const argv = containerArgv(own, image);
  if (argv.length > 0) return argv;
  throw new StartError(
    'CreateContainerError',
    'no command specified: neither the image nor the container has one',
  );
}

/** Returns the environment as NAME=VALUE; a variable of the container replaces one of its devices. */
const variables = ({ names }: ConfigContext, pod: Pod, given: GivenDevices, env: Environment) => [
  ...(pod.spec.hostNetwork ? [] : [`HOSTNAME=${names.hostname(pod)}`]),
  ...Object.entries(given.env)
    .filter(([key]) => !env.has(key))
    .map(([key, value]) => `${key}=${value}`),
  ...[...env].map(([key, value]) => `${key}=${value}`),
];

const deviceFields = (given: GivenDevices, blocks: NonNullable<ContainerConfig['devices']>) => ({
  devices: [...blocks, ...given.nodes],
  engineDevices: { cdi: given.cdi, nvidia: given.nvidia },
  ...(Object.keys(given.ids).length > 0 && { deviceIds: given.ids }),
  annotations: given.annotations,
});

async function devicesFor({ devices }: ConfigContext, pod: Pod, { name }: Container): Promise<GivenDevices> {
  try {
    return await devices.giveTo(pod, name);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    throw new StartError('CreateContainerError', error.message, { cause: error });
  }
}

/** Returns the machine's seccomp profile that the pod requests; undefined when it requests none. */
async function ownSeccomp(
  { seccompProfiles }: ConfigContext,
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
 * although it seems to see the processes of the target.
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
